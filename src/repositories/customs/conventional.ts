// The form of Conventional Commits (https://www.conventionalcommits.org), without any parser of a library.

import { isUsualTestFile } from '../../domain/proof/tests/test-files.ts';

/** Rules as commitlint has them: the level, whether they always or never apply, and a value. */
export type CommitRules = Record<string, [level: number, applicable?: 'always' | 'never', value?: unknown]>;

/** Invisible. It keeps text from mentioning somebody or closing an issue. */
const joiner = '\u2060';

const types = ['build', 'chore', 'ci', 'docs', 'feat', 'fix', 'perf', 'refactor', 'revert', 'style', 'test'];

/** The rules that are errors in `@commitlint/config-conventional` 21. */
export const conventionalRules: CommitRules = {
  'body-leading-blank': [2, 'always'],
  'body-max-line-length': [2, 'always', 100],
  'footer-leading-blank': [2, 'always'],
  'footer-max-line-length': [2, 'always', 100],
  'header-max-length': [2, 'always', 100],
  'header-trim': [2, 'always'],
  'subject-case': [2, 'never', ['sentence-case', 'start-case', 'pascal-case', 'upper-case']],
  'subject-empty': [2, 'never'],
  'subject-full-stop': [2, 'never', '.'],
  'type-case': [2, 'always', 'lower-case'],
  'type-empty': [2, 'never'],
  'type-enum': [2, 'always', types],
};

/** The rules of shared configurations. Others, which only an installation would show, count as the conventional ones. */
export const sharedRules: Record<string, CommitRules> = {
  '@commitlint/config-conventional': conventionalRules,
  '@commitlint/config-angular': {
    ...conventionalRules,
    'type-enum': [2, 'always', types.filter((type) => type !== 'chore')],
    'subject-exclamation-mark': [2, 'never'],
  },
};

/** The parts of a header such as `feat(api)!: subject`. */
export interface Header {
  type: string;
  scope: string;
  isBreaking: boolean;
  subject: string;
}

/**
 * Takes a harmless title apart (see `harmlessLine`). One without a type is a subject. The joiners of the subject stay. A scope
 * that has one is left out, because it would mention somebody without it, and rules would not know it with it.
 */
export function headerOf(title: string): Header {
  const line = title.trim();
  const [, type, scope = '', breaking = '', subject = ''] =
    /^([\p{L}\p{N}_\u2060-]{1,30})(?:\(([^()]{1,60})\))?(!?):\s*(.*)$/su.exec(line) ?? [];
  if (type === undefined) return { type: '', scope: '', isBreaking: false, subject: line };
  return {
    // With the joiner of a closing keyword, `fix` would be another type.
    type: type.replaceAll(joiner, ''),
    scope: scope.includes(joiner) ? '' : scope.trim(),
    isBreaking: breaking !== '',
    subject,
  };
}

/** A type that closes the issue whose address follows. Other references in subjects have a joiner of their own. */
const closing = /^(?:clos|fix|resolv)(?:e[sd]?|es|ed)?:\s+[<[(\u2060]*https?:/i;

/** Writes a header. If its subject is harmless, so is the header. */
export function headerText({ type, scope, isBreaking, subject }: Header): string {
  const text = `${type}${scope === '' ? '' : `(${scope})`}${isBreaking ? '!' : ''}: ${subject}`;
  return text.replace(closing, `$&${joiner}`);
}

/** Other words for a type, as people and models write them. */
const synonyms: Record<string, string> = {
  feature: 'feat',
  features: 'feat',
  bug: 'fix',
  bugfix: 'fix',
  hotfix: 'fix',
  doc: 'docs',
  documentation: 'docs',
  tests: 'test',
  testing: 'test',
  performance: 'perf',
  refactoring: 'refactor',
  chores: 'chore',
};

/** Returns the allowed type that a word names, synonyms included; undefined if there is none. */
export function typeNamed(word: string, allowed: string[]): string | undefined {
  const lower = word.toLowerCase();
  const find = (name: string | undefined) => allowed.find((type) => type.toLowerCase() === name);
  return find(lower) ?? find(synonyms[lower]);
}

const kinds: [type: string, isOfKind: (path: string) => boolean][] = [
  ['docs', (path) => /\.(?:md|mdx|rst|adoc|txt)$/i.test(path) || /^docs?\//i.test(path)],
  ['test', isUsualTestFile],
  ['ci', (path) => /^\.(?:github|circleci|buildkite)\/|^\.gitlab-ci\.yml$|^azure-pipelines/i.test(path)],
  [
    'build',
    (path) =>
      /(?:^|\/)(?:package(?:-lock)?\.json|[^/]*\.lock|pnpm-lock\.yaml|go\.(?:mod|sum)|Makefile|Dockerfile|pom\.xml|Cargo\.toml|[^/]*\.gradle(?:\.kts)?|pyproject\.toml|CMakeLists\.txt)$/i.test(
        path,
      ),
  ],
];

const verbs: [type: string, verb: RegExp][] = [
  ['fix', /^(?:fix|correct|repair|resolve|prevent|avoid)(?:e[sd]|ed|s|d)?\b/i],
  ['feat', /^(?:add|implement|support|introduce|allow|enable)(?:ed|s|d)?\b/i],
  ['refactor', /^(?:refactor|rename|extract|simplif|restructure|move)(?:ies|ied|y|ed|s|d)?\b/i],
  ['perf', /^(?:speed|optimi[sz]e|accelerate)[sd]?\b/i],
  ['docs', /^(?:document|describe|explain)(?:ed|s|d)?\b/i],
  ['revert', /^revert(?:s|ed)?\b/i],
];

/** Chooses a type by the files that changed, else by the verb of the subject; `chore` when neither says anything. */
export function typeOf(paths: string[], subject: string, allowed: string[]): string {
  const byFiles = paths.length === 0 ? undefined : kinds.find(([, isOfKind]) => paths.every(isOfKind))?.[0];
  const byVerb = verbs.find(([, verb]) => verb.test(subject.replace(/^[^\p{L}]+/u, '')))?.[0];
  for (const type of [byFiles, byVerb, 'chore'])
    if (type !== undefined) {
      const known = typeNamed(type, allowed);
      if (known !== undefined) return known;
    }
  return allowed[0] ?? 'chore';
}

/** Returns a subject in other letter cases, the one nearest to the original first. */
export function casesOf(subject: string): string[] {
  const [first = ''] = subject.split(/\s/, 1);
  const rest = subject.slice(first.length);
  // A first word such as `URL` or `slugOf` loses all of its capitals, because `uRL` would be no word at all.
  const isWord = /^\P{Lu}?\P{Lu}*$/u.test(first.slice(1));
  const lowered = isWord ? first.charAt(0).toLowerCase() + first.slice(1) : first.toLowerCase();
  const raised = first.charAt(0).toUpperCase() + first.slice(1);
  return [
    ...new Set([
      subject,
      lowered + rest,
      raised + rest,
      subject.toLowerCase(),
      raised + rest.toLowerCase(),
      subject.toUpperCase(),
    ]),
  ];
}

/** Cuts text to a length, at the end of a word where there is one. */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most + 1);
  const end = head.lastIndexOf(' ');
  return (end > most / 2 ? head.slice(0, end) : head.slice(0, most)).replace(/[\s,;:–-]+$/u, '');
}

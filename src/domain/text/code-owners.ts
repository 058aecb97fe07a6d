// CODEOWNERS files. They are untrusted input, so they are parsed and matched in a thread (github/app/requirements.ts).

/** More patterns than these are not matched. GitHub allows 3 MB of them. */
const maxPatterns = 2000;
/** Paths that are named for each group of owners. */
const maxNamed = 3;

/** Files with the same owners. */
export interface OwnedFiles {
  /** `@user`, `@org/team` or addresses; one of them has to review. */
  owners: string[];
  /** The first of the files, and how many there are. */
  paths: string[];
  count: number;
}

/** Returns the files that have owners, in groups; undefined when the file has too many patterns. The last match decides. */
export function ownersOf(text: string, paths: string[]): OwnedFiles[] | undefined {
  const rules = rulesIn(text);
  if (rules.length > maxPatterns) return undefined;
  const groups = new Map<string, OwnedFiles>();
  for (const path of paths) {
    const owners = rules.findLast(({ pattern }) => pattern.test(path))?.owners ?? [];
    if (owners.length === 0) continue;
    const group = groups.get(owners.join(' ')) ?? { owners, paths: [], count: 0 };
    groups.set(owners.join(' '), group);
    group.count++;
    if (group.paths.length < maxNamed) group.paths.push(path);
  }
  return [...groups.values()];
}

interface Rule {
  pattern: RegExp;
  owners: string[];
}

function rulesIn(text: string): Rule[] {
  return text.split('\n').flatMap((line) => {
    // A space in a path is escaped.
    const [pattern = '', ...rest] = line.trim().match(/(?:\\.|[^\s\\])+/g) ?? [];
    if (pattern === '' || pattern.startsWith('#')) return [];
    const compiled = compile(pattern.replace(/\\(.)/g, '$1'));
    const end = rest.findIndex((word) => word.startsWith('#'));
    const owners = (end === -1 ? rest : rest.slice(0, end)).filter((word) => word.includes('@'));
    // GitHub skips a line that it does not understand.
    return compiled === undefined ? [] : [{ pattern: compiled, owners }];
  });
}

/** The rules of gitignore, without `!` and `[]` (docs.github.com, "About code owners"). */
function compile(given: string): RegExp | undefined {
  if (given.startsWith('!') || /[[\]]/.test(given)) return undefined;
  const isFolder = given.endsWith('/');
  const names = given.replace(/^\//, '').replace(/\/$/, '');
  if (names === '') return undefined;
  const isAnchored = given.startsWith('/') || names.includes('/');
  const parts = names.split('/');
  // `docs/*` matches the files of a folder, and not what lies below it.
  const below = parts.length > 1 && parts.at(-1) === '*' ? '' : '(?:/.*)?';
  return new RegExp(`^${isAnchored ? '' : '(?:.*/)?'}${sourceOf(parts)}${isFolder ? '/.*' : below}$`, 's');
}

function sourceOf(parts: string[]): string {
  const sources = parts.map((part, i) => {
    const isLast = i === parts.length - 1;
    if (part === '**') return isLast ? '.+' : '(?:.*/)?';
    return nameSource(part) + (isLast ? '' : '/');
  });
  return sources.join('');
}

function nameSource(name: string): string {
  return name
    .replace(/\*+/g, '*')
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
}

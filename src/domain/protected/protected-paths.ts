import { ciFiles } from './ci-files.ts';
import { seenAs } from './seen-names.ts';

/** Why agents may not change a path. */
export interface Protection {
  /** The reason. It completes the phrase "because …". */
  why: string;
  /** Whether `allowed` in .deckhand.yml can lift the protection. */
  mayBeAllowed: boolean;
}

const never = (why: string): Protection => ({ why, mayBeAllowed: false });
const unlessAllowed = (why: string): Protection => ({ why, mayBeAllowed: true });

/** The paths that are protected unless a repository configures otherwise, in the syntax of `ciFiles`. */
const byDefault: [Protection, string[]][] = [
  [never('it sets what agents may do in this repository'), ['.deckhand.yml']],
  [never('it makes git fetch from other hosts'), ['.gitmodules', '.lfsconfig']],
  // https://docs.github.com/apps/creating-github-apps/registering-a-github-app/choosing-permissions-for-a-github-app
  [never('GitHub refuses workflows that an App without the permission `workflows` pushes'), ['.github/workflows']],
  [unlessAllowed('GitHub acts on the files in .github'), ['.github']],
  [unlessAllowed('it decides who has to approve changes'), ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS']],
  [unlessAllowed('it decides who has to approve changes'), ['.gitea/CODEOWNERS', '.forgejo/CODEOWNERS']],
  // https://docs.renovatebot.com/configuration-options/: postUpgradeTasks are commands.
  [unlessAllowed('Renovate acts on it'), ['renovate.json', 'renovate.json5', '.renovaterc', '.renovaterc.json']],
  [unlessAllowed('Renovate acts on it'), ['.renovaterc.json5', '.gitlab/renovate.json', '.gitlab/renovate.json5']],
  [
    unlessAllowed('it runs on the machine of everyone who opens the folder'),
    ['**/.devcontainer', '**/.devcontainer.json'],
  ],
  [unlessAllowed('it runs on the machine of everyone who opens the folder'), ['**/.vscode/tasks.json', '.gitpod.yml']],
  [
    unlessAllowed('it runs on the machine of everyone who commits'),
    // https://lefthook.dev/configuration/
    ['**/.husky', '**/lefthook.*', '**/.lefthook.*', '**/lefthook-local.*', '**/.lefthook-local.*', '**/.lefthook'],
  ],
  // https://direnv.net/, https://code.claude.com/docs/en/hooks
  [unlessAllowed('it runs on the machine of everyone who enters the folder'), ['**/.envrc']],
  [
    unlessAllowed('coding agents on the machines of people run its hooks'),
    ['**/.claude/settings.json', '**/.claude/settings.local.json', '**/.claude/hooks'],
  ],
  ...Object.entries(ciFiles).map(([system, files]): [Protection, string[]] => [
    unlessAllowed(`${system} runs the commands in it`),
    files,
  ]),
];

const rules = byDefault.map(([protection, paths]) => ({ protection, paths, pattern: patternOf(paths) }));
/** Combines all rules in one pattern, because most paths match none of them. */
const anyRule = patternOf(rules.flatMap(({ paths }) => paths));

/**
 * Issue and pull request templates, which are only text for people. Names are compared exactly, so a look-alike name
 * stays protected.
 */
const template = /^\.github\/(issue|pull_request)_template(\/.*|\.(md|txt))?$/is;

/**
 * Finds the protection of a path, if any. Also protects names that some file system treats as equal to a protected one.
 */
export function protectionOf(path: string): Protection | undefined {
  const seen = seenAs(path);
  if (!anyRule.test(seen) || template.test(path)) return undefined;
  return rules.find(({ pattern }) => pattern.test(seen))?.protection;
}

/** Returns whether a path is a .gitattributes file, in any folder. */
export function isAttributesFile(path: string): boolean {
  return /(^|\/)\.gitattributes$/.test(seenAs(path));
}

/** Returns whether `allowed` lists a path or a folder above it. Names are compared exactly. */
export function isAllowed(allowed: readonly string[], path: string): boolean {
  return allowed.some((entry) => path === entry || path.startsWith(`${entry}/`));
}

/**
 * Returns what is wrong with an entry of `allowed`, in a sentence for people; undefined for an entry that lifts a
 * protection.
 */
export function problemWithAllowed(entry: string): string | undefined {
  if (isAttributesFile(entry))
    return 'filters in .gitattributes cannot be allowed; other changes to the file need no entry';
  const protection = protectionOf(entry);
  if (protection?.mayBeAllowed === false) return `${seenAs(entry)} cannot be allowed, because ${protection.why}`;
  const holdsSome = rules.some(({ paths }) => paths.some((path) => isFolderOf(entry, path)));
  if (protection !== undefined || template.test(entry) || holdsSome) return undefined;
  return 'it is not protected by default, so it need not be allowed';
}

function isFolderOf(folder: string, path: string): boolean {
  if (!path.startsWith('**/')) return path.startsWith(`${folder}/`);
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  return path.startsWith(`**/${name}/`);
}

function patternOf(paths: string[]): RegExp {
  const bodies = (some: string[]) =>
    some.map((path) => path.toLowerCase().replace(/[.]/g, '\\.').replace(/[*]/g, '[^/]*')).join('|');
  const rooted = paths.filter((path) => !path.startsWith('**/'));
  const anywhere = paths.filter((path) => path.startsWith('**/')).map((path) => path.slice('**/'.length));
  const begins = [
    ...(rooted.length > 0 ? [`^(?:${bodies(rooted)})`] : []),
    ...(anywhere.length > 0 ? [`(?:^|/)(?:${bodies(anywhere)})`] : []),
  ];
  return new RegExp(`(?:${begins.join('|')})(?:/|$)`);
}

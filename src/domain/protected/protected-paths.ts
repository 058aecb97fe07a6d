import { ciFiles } from './ci-files.ts';

/**
 * Normalizes a path as the most lenient file system would: to lower case (NTFS, APFS), without the characters that HFS+
 * ignores, and without those that NTFS drops from the end of a name. Two paths that some file system treats as equal
 * become equal.
 */
export function seenAs(path: string): string {
  const letters = /^[\x20-\x7e]*$/.test(path)
    ? path
    : path
        .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
        .normalize('NFKC')
        .toUpperCase();
  const seen = letters.toLowerCase();
  return /:|[ .](?:\/|$)/.test(seen) ? seen.split('/').map(withoutEnd).join('/') : seen;
}

function withoutEnd(name: string): string {
  const [before = ''] = name.split(':');
  // A regular expression would take quadratic time on many spaces followed by another character.
  let end = before.length;
  while (before[end - 1] === ' ' || before[end - 1] === '.') end -= 1;
  return before.slice(0, end);
}

/** Returns whether some file system treats a path as inside the .git folder (core.protectHFS, core.protectNTFS). */
export function isInGitFolder(path: string): boolean {
  const names = seenAs(path).split('/');
  return names.includes('.git') || names.includes('git~1');
}

/** Why agents may not change a path. */
export interface Protection {
  /** The reason. It completes the phrase "because …". */
  why: string;
  /** Whether `allowed` in .deckhand.yml can lift the protection. */
  mayBeAllowed: boolean;
}

const never = (why: string): Protection => ({ why, mayBeAllowed: false });
const unlessAllowed = (why: string): Protection => ({ why, mayBeAllowed: true });

const anywhere = (path: string) => `**/${path}`;
const under = (folder: string, ...names: string[]) => names.map((name) => anywhere(`${folder}/${name}`));

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
  [
    unlessAllowed('it runs on the machine of everyone who opens the folder'),
    // https://code.visualstudio.com/docs/editing/workspaces/workspace-trust; a workspace file contains settings and tasks.
    // https://www.jetbrains.com/help/idea/project-security.html: startup tasks, file watchers and tools of the project
    [...under('.vscode', 'tasks.json', 'settings.json', 'mcp.json'), '**/*.code-workspace', '**/.idea', '.gitpod.yml'],
  ],
  [
    unlessAllowed('it runs on the machine of everyone who opens the folder'),
    // https://zed.dev/docs/tasks, https://neovim.io/doc/user/options.html ('exrc'), Emacs manual "Directory Variables"
    [
      ...under('.zed', 'settings.json', 'tasks.json'),
      ...['.exrc', '.nvimrc', '.nvim.lua', '.dir-locals.el'].map(anywhere),
    ],
  ],
  [
    unlessAllowed('it runs on the machine of everyone who commits'),
    // https://lefthook.dev/configuration/
    ['**/.husky', '**/lefthook.*', '**/.lefthook.*', '**/lefthook-local.*', '**/.lefthook-local.*', '**/.lefthook'],
  ],
  [
    unlessAllowed('it runs on the machine of everyone who commits'),
    // The usual names for core.hooksPath; https://github.com/sds/overcommit, https://github.com/toplenboren/simple-git-hooks
    ['.githooks', '.git-hooks', '.overcommit.yml', '.simple-git-hooks.*'].map(anywhere),
  ],
  [
    unlessAllowed('it runs on the machine of everyone who enters the folder'),
    // https://direnv.net/, https://mise.jdx.dev/configuration.html
    ['.envrc', 'mise.toml', 'mise.*.toml', '.mise.toml', '.mise.*.toml', '.mise', '.config/mise*'].map(anywhere),
  ],
  [
    unlessAllowed('it names programs that Yarn runs at every command'),
    // https://yarnpkg.com/configuration/yarnrc: yarnPath and plugins
    ['.yarnrc', '.yarnrc.yml', '.yarn/releases', '.yarn/plugins'].map(anywhere),
  ],
  // https://pnpm.io/pnpmfile: it runs also with --ignore-scripts.
  [unlessAllowed('pnpm runs it at every installation'), ['**/.pnpmfile.*']],
  [
    unlessAllowed('coding agents on the machines of people run the commands in it'),
    // https://code.claude.com/docs/en/hooks, https://code.claude.com/docs/en/mcp
    // https://code.claude.com/docs/en/skills: Markdown files have hooks in their front matter, and commands in their text.
    ['**/.mcp.json', ...under('.claude', 'settings*.json', 'hooks', 'skills', 'agents', 'commands')],
  ],
  [
    unlessAllowed('coding agents on the machines of people run the commands in it'),
    [
      // https://cursor.com/docs/agent/hooks
      ...under('.cursor', 'mcp.json', 'hooks.json', 'hooks', 'environment.json'),
      // https://geminicli.com/docs/, https://developers.openai.com/codex/config-reference
      ...under('.gemini', 'settings.json', 'extensions'),
      ...under('.codex', 'config.toml', 'hooks.json'),
      // https://docs.windsurf.com/, https://kiro.dev/docs/hooks/, https://docs.roocode.com/
      ...under('.windsurf', 'hooks.json'),
      ...under('.kiro', 'hooks', 'settings'),
      ...under('.roo', 'mcp.json'),
      ...under('.amazonq', 'mcp.json', 'cli-agents'),
      ...under('.junie', 'mcp'),
      // https://opencode.ai/docs/plugins/, https://aider.chat/docs/config/aider_conf.html
      ...under('.opencode', 'plugin', 'plugins', 'tool', 'tools', 'command', 'commands', 'agent', 'agents'),
      ...['opencode.json', 'opencode.jsonc', '.aider.conf.yml'].map(anywhere),
    ],
  ],
  [
    unlessAllowed('on Windows it may be the short name of a protected file'),
    // https://learn.microsoft.com/windows/win32/fileio/naming-a-file, "Short vs. Long Names": HUSKY~1 is .husky.
    [1, 2, 3, 4].flatMap((number) => [`*~${number}`, `*~${number}.*`]).map(anywhere),
  ],
  ...Object.entries(ciFiles).map(([system, files]): [Protection, string[]] => [
    unlessAllowed(`${system} runs the commands in it`),
    files,
  ]),
];

const rules = byDefault.map(([protection, paths]) => {
  const all = paths.flatMap(foldersOf);
  const anywhere = all.filter((folder) => folder.startsWith('**/'));
  const folders = { all: patternOfFolders(all), anywhere: patternOfFolders(anywhere) };
  return { protection, paths, pattern: patternOf(paths), folders };
});
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

/**
 * Finds the protection of a path below this one, if any. A link in the place of a folder brings other files under the protected
 * names. What is protected only at the root is for hosts and CI systems, which do not read it in a submodule.
 */
export function protectionAbove(path: string, isSubmodule = false): Protection | undefined {
  const seen = seenAs(path);
  return rules.find(({ folders }) => (isSubmodule ? folders.anywhere : folders.all)?.test(seen))?.protection;
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

function patternOfFolders(folders: string[]): RegExp | undefined {
  return folders.length > 0 ? patternOf(folders, '$') : undefined;
}

/** Returns the folders above a path, without the double star alone. */
function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, i) => names.slice(0, i + 1).join('/')).filter((folder) => folder !== '**');
}

function patternOf(paths: string[], end = '(?:/|$)'): RegExp {
  const bodies = (some: string[]) =>
    some.map((path) => path.toLowerCase().replace(/[.]/g, '\\.').replace(/[*]/g, '[^/]*')).join('|');
  const rooted = paths.filter((path) => !path.startsWith('**/'));
  const anywhere = paths.filter((path) => path.startsWith('**/')).map((path) => path.slice('**/'.length));
  const begins = [
    ...(rooted.length > 0 ? [`^(?:${bodies(rooted)})`] : []),
    ...(anywhere.length > 0 ? [`(?:^|/)(?:${bodies(anywhere)})`] : []),
  ];
  return new RegExp(`(?:${begins.join('|')})${end}`);
}

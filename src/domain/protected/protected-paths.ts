import { seenAs } from '../seen-names.ts';
import { ciFiles } from './ci-files.ts';

/** Why agents may not change a path. */
export interface Protection {
  /** What the file does, after "because". */
  why: string;
  /** Whether `allowed` in .deckhand.yml can open it. */
  mayBeAllowed: boolean;
}

const never = (why: string): Protection => ({ why, mayBeAllowed: false });
const unlessAllowed = (why: string): Protection => ({ why, mayBeAllowed: true });

/** What is protected where nobody says otherwise (decisions-2, section 12); paths as in `ciFiles`. */
const byDefault: [Protection, string[]][] = [
  [never('it says what agents may do here'), ['.deckhand.yml']],
  [never('it makes git fetch from elsewhere'), ['.gitmodules', '.lfsconfig']],
  [unlessAllowed('GitHub obeys what is in .github'), ['.github']],
  [unlessAllowed('it decides who has to approve changes'), ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS']],
  [unlessAllowed('it decides who has to approve changes'), ['.gitea/CODEOWNERS', '.forgejo/CODEOWNERS']],
  // https://docs.renovatebot.com/configuration-options/: postUpgradeTasks are commands.
  [unlessAllowed('Renovate obeys it'), ['renovate.json', 'renovate.json5', '.renovaterc', '.renovaterc.json']],
  [unlessAllowed('Renovate obeys it'), ['.renovaterc.json5', '.gitlab/renovate.json', '.gitlab/renovate.json5']],
  [
    unlessAllowed('it runs on the machines of those who open the folder'),
    ['**/.devcontainer', '**/.devcontainer.json'],
  ],
  [unlessAllowed('it runs on the machines of those who open the folder'), ['**/.vscode/tasks.json', '.gitpod.yml']],
  [unlessAllowed('it runs on the machines of those who commit'), ['**/.husky']],
  ...Object.entries(ciFiles).map(([system, files]): [Protection, string[]] => [
    unlessAllowed(`${system} runs what it says`),
    files,
  ]),
];

const rules = byDefault.map(([protection, paths]) => ({ protection, paths, pattern: patternOf(paths) }));
/** One test for the many paths that nothing speaks against. */
const anyRule = patternOf(rules.flatMap(({ paths }) => paths));

/** Issue and pull request templates are texts for people. By the exact letters: a name that only looks alike is none. */
const template = /^\.github\/(issue|pull_request)_template(\/.*|\.(md|txt))?$/is;

/** Why agents may not change a path unless it is allowed, in whatever letters a file system takes for the same. */
export function protectionOf(path: string): Protection | undefined {
  const seen = seenAs(path);
  if (!anyRule.test(seen) || template.test(path)) return undefined;
  return rules.find(({ pattern }) => pattern.test(seen))?.protection;
}

/** Whether it is a file in which git is told of filters, in whatever folder. */
export function isAttributesFile(path: string): boolean {
  return /(^|\/)\.gitattributes$/.test(seenAs(path));
}

/** Whether a path was opened by name, or lies below a folder that was; by the exact letters. */
export function isAllowed(allowed: readonly string[], path: string): boolean {
  return allowed.some((entry) => path === entry || path.startsWith(`${entry}/`));
}

/** What is wrong with an entry of `allowed`, in words for people; undefined for one that opens something. */
export function problemWithAllowed(entry: string): string | undefined {
  if (isAttributesFile(entry))
    return 'filters in .gitattributes cannot be allowed; other changes of the file need no permission';
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

// The commands with which repositories usually check themselves. A trial tries them where .deckhand.yml lists no checks.

import { posix } from 'node:path';
import type { Checkout } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';
import { entering, type Manifest, readManifest } from '../detect.ts';

/** A folder in which usual checks are looked for: the root, or a side folder that is a project of its own. */
interface Project {
  /** The names of the files in the folder. */
  names: Set<string>;
  /** The kinds of files that are in it or below. */
  kinds: Set<Kind>;
  /** The fields of its package.json and its composer.json. */
  manifest: Manifest;
  composer: Manifest;
  /** Whether set-up did what the lock files say, rather than what .deckhand.yml lists. */
  isDetected: boolean;
  /** Returns the text of the first of these files that exists; empty where none does. */
  textOf(...names: string[]): Promise<string>;
}

/** Commands that check the same in different ways. The first that passes is proposed. */
type Alternatives = string[];

type Find = (project: Project) => Alternatives | Promise<Alternatives>;

/** Files that say by their paths, seen from the folder of the project, how it is tested. */
const kinds = {
  perl: (path: string) => path.startsWith('t/') && path.endsWith('.t'),
  python: (path: string) => isPythonTest.test(path.slice(path.lastIndexOf('/') + 1)),
  ruby: (path: string) => path.startsWith('test/') || path.startsWith('spec/'),
  rspec: (path: string) => path === '.rspec' || (path.startsWith('spec/') && path.endsWith('_spec.rb')),
  dotnet: (path: string) => !path.includes('/') && /\.(sln|slnx|csproj|fsproj)$/.test(path.slice(-8)),
};
type Kind = keyof typeof kinds;

const isPythonTest = /^(test_.*|.*_test)\.py$/;

/** The names that Task looks for, in this order. */
const taskfiles = ['', '.dist'].flatMap((kind) =>
  ['yml', 'yaml'].flatMap((ending) => [`Taskfile${kind}.${ending}`, `taskfile${kind}.${ending}`]),
);

/** Ways of finding usual checks, one for each kind of project or tool. */
const finders: Find[] = [
  ({ names, manifest }) => (hasTestScript(manifest) ? [`${managerOf(names, manifest)} test`] : []),
  ({ names, manifest }) => (!hasTestScript(manifest) && hasAny(names, 'deno.json', 'deno.jsonc') ? ['deno test'] : []),
  async ({ textOf }) => among(targetsIn(await textOf('GNUmakefile', 'makefile', 'Makefile')), 'make'),
  async ({ textOf }) => among(recipesIn(await textOf('justfile', 'Justfile', '.justfile')), 'just'),
  async ({ textOf }) => among(tasksIn(await textOf(...taskfiles)), 'task'),
  ({ names }) => (names.has('go.mod') ? ['go test ./...'] : []),
  ({ names }) => (names.has('Cargo.toml') ? ['cargo test'] : []),
  ({ kinds: has }) => (has.has('perl') ? ['prove -lr t'] : []),
  pythonChecks,
  rubyChecks,
  ({ names, composer }) => [
    ...(hasTestScript(composer) ? ['composer test'] : []),
    ...(hasAny(names, 'phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml') ? ['vendor/bin/phpunit'] : []),
  ],
  ({ names }) => (names.has('pom.xml') ? [`${names.has('mvnw') ? 'sh ./mvnw' : 'mvn'} -B -q -o test`] : []),
  ({ names }) =>
    hasAny(names, 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts')
      ? [`${names.has('gradlew') ? 'sh ./gradlew' : 'gradle'} --no-daemon -q --offline test`]
      : [],
  ({ names }) => (names.has('mix.exs') ? ['mix test'] : []),
  ({ kinds: has }) => (has.has('dotnet') ? ['dotnet test --no-restore'] : []),
];

/** What the usual checks of a commit are looked for in. */
export interface Searched {
  /** The paths of its files. */
  paths: ReadonlyMap<string, unknown>;
  /** The side folders that are projects of their own. */
  folders: string[];
  isDetected: boolean;
}

/** The usual checks that were found. */
export interface UsualChecks {
  checks: Alternatives[];
  /** The side folders in which none was found. */
  unchecked: string[];
}

/** Finds the commands with which projects of the kinds that a commit contains usually check themselves. */
export async function usualChecks(checkout: Checkout, commit: string, searched: Searched): Promise<UsualChecks> {
  const checks: Alternatives[] = [];
  const unchecked: string[] = [];
  for (const [folder, { names, kinds: has }] of await filesByProject(searched)) {
    const pathOf = (name: string) => posix.join(folder, name);
    const jsonOf = (name: string) => (names.has(name) ? readManifest(checkout, commit, pathOf(name)) : {});
    const project: Project = {
      names,
      kinds: has,
      manifest: await jsonOf('package.json'),
      composer: await jsonOf('composer.json'),
      isDetected: searched.isDetected,
      textOf: async (...wanted) => {
        const name = wanted.find((each) => names.has(each));
        const file = name === undefined ? undefined : await checkout.readFile(commit, pathOf(name));
        return Buffer.isBuffer(file) ? file.toString('utf8', 0, maxBytes) : '';
      },
    };
    const found: Alternatives[] = [];
    for (const find of finders) found.push(await find(project));
    const some = found.filter((commands) => commands.length > 0);
    if (some.length === 0 && folder !== '') unchecked.push(folder);
    checks.push(...some.map((commands) => commands.map((command) => `${entering(folder)}${command}`)));
  }
  return { checks, unchecked };
}

/** Bytes that are read of a Makefile and the like. */
const maxBytes = 256_000;

/** Returns the files of the root, under an empty name, and of each side folder. There may be half a million paths. */
async function filesByProject({ paths, folders }: Searched): Promise<Map<string, Pick<Project, 'names' | 'kinds'>>> {
  const projects = new Map(
    ['', ...folders].map((folder) => [folder, { names: new Set<string>(), kinds: new Set<Kind>() }]),
  );
  const kindsOf = Object.entries(kinds) as [Kind, (path: string) => boolean][];
  const add = (folder: string, path: string) => {
    const project = projects.get(folder);
    if (!path.includes('/')) project?.names.add(path);
    for (const [kind, isOne] of kindsOf) if (project?.kinds.has(kind) === false && isOne(path)) project.kinds.add(kind);
  };
  await inPortions(paths.keys(), (path) => {
    const folder = folders.find((each) => path.startsWith(each) && path[each.length] === '/');
    if (folder !== undefined) add(folder, path.slice(folder.length + 1));
    // A folder that has only tests tests the code around it.
    if (folder === undefined || isOfTests.test(folder)) add('', path);
  });
  return projects;
}

const isOfTests = /^(?:tests?|specs?|t|__tests__)$/;

const hasAny = (names: Set<string>, ...wanted: string[]) => wanted.some((name) => names.has(name));

/** Returns the commands of a task runner for the tasks that usually check. */
function among(tasks: Set<string>, runner: string): Alternatives {
  return ['test', 'check'].filter((task) => tasks.has(task)).map((task) => `${runner} ${task}`);
}

/** Returns the targets of a Makefile: those of its rules, and those that it calls phony, whose rules another file may have. */
function targetsIn(text: string): Set<string> {
  const targets = new Set<string>();
  for (const line of text.replaceAll('\r', '').replaceAll('\\\n', ' ').split('\n')) {
    const [before = '', after] = splitAt(line, ':');
    // Recipes, comments and variables: `x := 1`, `x ::= 1`, `x = a:b`.
    if (after === undefined || /^[\t#]/.test(line) || /^:{0,2}=/.test(after) || before.includes('=')) continue;
    const names = before.trim().split(/\s+/);
    for (const name of names.includes('.PHONY') ? after.split(/\s+/) : names) targets.add(name);
  }
  return targets;
}

/** Returns the recipes of a Justfile: a name at the start of a line, with parameters and a colon. */
function recipesIn(text: string): Set<string> {
  return new Set(
    text.split('\n').flatMap((line) => {
      const [before = '', after] = splitAt(line, ':');
      return after === undefined || after.startsWith('=') ? [] : [before.replace(/^@/, '').split(/\s/, 1)[0] ?? ''];
    }),
  );
}

/** Returns the tasks of a Taskfile, and other keys in it. */
function tasksIn(text: string): Set<string> {
  return new Set(text.split('\n').flatMap((line) => /^[ \t]{1,8}(["']?)(test|check)\1:/.exec(line)?.[2] ?? []));
}

/** Splits a line at the first occurrence of a character. */
function splitAt(line: string, character: string): string[] {
  const at = line.indexOf(character);
  return at === -1 ? [line] : [line.slice(0, at), line.slice(at + 1)];
}

/** npm writes a script `test` that fails into each new package.json. Scripts of Composer may be lists of commands. */
function hasTestScript({ scripts }: Manifest): boolean {
  const { test } = (typeof scripts === 'object' && scripts !== null ? scripts : {}) as { test?: unknown };
  return Array.isArray(test)
    ? test.length > 0
    : typeof test === 'string' && test !== '' && !test.includes('no test specified');
}

function managerOf(names: Set<string>, { packageManager }: Manifest): string {
  const [, pinned] = /^(npm|pnpm|yarn|bun)@/.exec(String(packageManager)) ?? [];
  if (pinned !== undefined) return pinned === 'bun' ? 'bun run' : pinned;
  if (hasAny(names, 'pnpm-lock.yaml', 'pnpm-workspace.yaml')) return 'pnpm';
  if (hasAny(names, 'bun.lock', 'bun.lockb')) return 'bun run';
  return names.has('yarn.lock') ? 'yarn' : 'npm';
}

/** How programs of a project run whose packages are in a virtual environment. uv would look for newer packages in the network. */
const pythonRunners: [lockFile: string, runner: string][] = [
  ['uv.lock', 'uv run --no-sync'],
  ['poetry.lock', 'poetry run'],
  ['Pipfile.lock', 'pipenv run'],
];

function pythonChecks({ names, kinds: has, isDetected }: Project): Alternatives {
  const [, runner] = pythonRunners.find(([lockFile]) => names.has(lockFile)) ?? [];
  const inEnvironment = runner === undefined ? [] : [`${runner} pytest`, `${runner} python -m unittest`];
  // Without a virtual environment, or where commands in .deckhand.yml may have installed elsewhere.
  const ofSystem = runner === undefined || !isDetected ? ['python3 -m pytest', 'python3 -m unittest'] : [];
  return [
    ...(has.has('python') ? [...inEnvironment, ...ofSystem] : []),
    ...(names.has('tox.ini') ? ['tox'] : []),
    ...(names.has('noxfile.py') ? ['nox'] : []),
  ];
}

function rubyChecks({ names, kinds: has }: Project): Alternatives {
  const bundled = names.has('Gemfile') ? 'bundle exec ' : '';
  return [
    ...(names.has('Rakefile') && has.has('ruby') ? [`${bundled}rake test`, `${bundled}rake spec`] : []),
    ...(has.has('rspec') ? [`${bundled}rspec`] : []),
  ];
}

/** What a command of a trial did, as far as it decides whether it is a check. */
interface Ran {
  exitCode: number | null;
  output?: string;
}

/**
 * What unittest, the test runner of Node, pytest and make say when they ran no test. Some of them succeed then.
 */
const noTests =
  /^Ran 0 tests in |^(?:#|ℹ) tests 0$|\bno tests ran\b|^make(?:\[\d\])?: (?:'(?:test|check)' is up to date|Nothing to be done for '(?:test|check)')/m;

/** Returns whether a usual check succeeded, and did not say that it ran no test. */
export function hasPassed({ exitCode, output = '' }: Ran): boolean {
  return exitCode === 0 && !noTests.test(output);
}

/** Returns whether a usual check ran tests and some failed. Another runner may not find them, and would hide that. */
export function hasFailingTests({ exitCode, output = '' }: Ran): boolean {
  return exitCode === 1 && /\b\d{1,9} (?:failed|errors?)\b/.test(output);
}

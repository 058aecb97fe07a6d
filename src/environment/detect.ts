import type { Checkout } from '../git/engine.ts';
import { inPortions } from '../git/work-tree/tree-files.ts';

/** A command that prepares a folder of the repository. */
export interface DetectedCommand {
  command: string;
  /** The programs of which it needs one. Where all are missing, the command is left out. The first is the usual one. */
  programs: string[];
}

interface Rule {
  program: string;
  command: string;
  /** The command is used where a folder has one of these files; `*.sln` stands for all files with this ending. */
  files: string[];
  /**
   * The files name no exact versions, so they say less than a lock file: one in the root does not stop the search in the
   * folders of the root, and there they do not count.
   */
  isLoose?: boolean;
}

/**
 * The commands that package managers document for installing what a lock file or a manifest names. In each group, the first
 * matching rule applies, because a repository may still have the lock file of a manager that it no longer uses.
 */
const groups: Rule[][] = [
  [
    { files: ['pnpm-lock.yaml'], program: 'pnpm', command: 'pnpm install --frozen-lockfile' },
    { files: ['bun.lock', 'bun.lockb'], program: 'bun', command: 'bun install --frozen-lockfile' },
    { files: ['yarn.lock'], program: 'yarn', command: 'yarn install --frozen-lockfile' },
    { files: ['package-lock.json', 'npm-shrinkwrap.json'], program: 'npm', command: 'npm ci' },
    { files: ['deno.lock'], program: 'deno', command: 'deno install --frozen' },
    { files: ['deno.json', 'deno.jsonc'], program: 'deno', command: 'deno install', isLoose: true },
    {
      files: ['pnpm-workspace.yaml'],
      program: 'pnpm',
      command: 'pnpm install --no-frozen-lockfile',
      isLoose: true,
    },
    { files: ['package.json'], program: 'npm', command: 'npm install --no-package-lock', isLoose: true },
  ],
  [
    { files: ['uv.lock'], program: 'uv', command: 'uv sync --frozen' },
    { files: ['poetry.lock'], program: 'poetry', command: 'poetry install --no-interaction' },
    { files: ['Pipfile.lock'], program: 'pipenv', command: 'pipenv sync --dev' },
    {
      // Into the home folder: a virtual environment in the workspace is kept only where git ignores it.
      files: ['requirements.txt'],
      program: 'pip3',
      command: 'PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install --user -r requirements.txt',
    },
  ],
  // Go compiles its standard library in each new home folder, which takes 20 s. The compiled one is kept with the home.
  [{ files: ['go.mod'], program: 'go', command: 'go mod download && go build std' }],
  [
    { files: ['Cargo.lock'], program: 'cargo', command: 'cargo fetch --locked' },
    { files: ['Cargo.toml'], program: 'cargo', command: 'cargo fetch', isLoose: true },
  ],
  [
    { files: ['Gemfile.lock'], program: 'bundle', command: bundleInstall() },
    { files: ['Gemfile'], program: 'bundle', command: bundleInstall(), isLoose: true },
  ],
  [
    { files: ['composer.lock'], program: 'composer', command: composerInstall() },
    { files: ['composer.json'], program: 'composer', command: composerInstall(), isLoose: true },
  ],
  // The wrappers of Maven and Gradle are shell scripts, which fetch the version that they name. They need Java.
  [
    { files: ['mvnw'], program: 'java', command: 'sh ./mvnw -B -q dependency:go-offline', isLoose: true },
    { files: ['pom.xml'], program: 'mvn', command: 'mvn -B -q dependency:go-offline', isLoose: true },
    { files: ['gradlew'], program: 'java', command: 'sh ./gradlew --no-daemon -q testClasses', isLoose: true },
    {
      files: ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
      program: 'gradle',
      command: 'gradle --no-daemon -q testClasses',
      isLoose: true,
    },
  ],
  [
    {
      files: ['mix.exs'],
      program: 'mix',
      command: 'mix local.hex --force --if-missing && mix local.rebar --force --if-missing && mix deps.get',
      isLoose: true,
    },
  ],
  [
    {
      files: ['*.sln', '*.slnx', '*.csproj', '*.fsproj', '*.vbproj'],
      program: 'dotnet',
      command: 'dotnet restore',
      isLoose: true,
    },
  ],
];

function bundleInstall(): string {
  return 'bundle config set --global path "$HOME/.gems" && bundle install';
}

function composerInstall(): string {
  return 'composer install --no-interaction --no-progress';
}

/** Images in which the programs of detected commands are installed. Those of pnpm and Yarn are there by Corepack. */
const images: Record<string, string> = {
  npm: 'docker.io/library/node:22',
  pnpm: 'docker.io/library/node:22',
  yarn: 'docker.io/library/node:22',
  bun: 'docker.io/oven/bun:1',
  deno: 'docker.io/denoland/deno:debian',
  uv: 'ghcr.io/astral-sh/uv:python3.13-bookworm',
  pip3: 'docker.io/library/python:3',
  go: 'docker.io/library/golang:1',
  cargo: 'docker.io/library/rust:1',
  bundle: 'docker.io/library/ruby:3',
  composer: 'docker.io/library/composer:2',
  java: 'docker.io/library/eclipse-temurin:21',
  mvn: 'docker.io/library/maven:3-eclipse-temurin-21',
  gradle: 'docker.io/library/gradle:8-jdk21',
  mix: 'docker.io/library/elixir:1',
  dotnet: 'mcr.microsoft.com/dotnet/sdk:9.0',
};

/** Returns an image in which a program of a detected command is installed; null where none is known. */
export function imageWith(program: string): string | null {
  return images[program] ?? null;
}

/** Files that name packages and for which there is no command, because too many projects use them for other things. */
const otherManifests = ['pyproject.toml', 'setup.py', 'setup.cfg', 'Pipfile', 'environment.yml'];

/** Maximum number of side folders for which commands are detected when the root has no lock file. */
const maxParts = 10;

/** What the files of a repository say about its set-up. */
export interface Detected {
  commands: DetectedCommand[];
  /** The side folders that are projects of their own. */
  folders: string[];
  /** Files that name packages which set-up does not install. */
  unknown: string[];
}

/** Folders of the root whose folders are projects of their own. */
const containers = new Set(['apps', 'libs', 'packages', 'projects', 'services']);

/** Returns the folder in which a file counts for set-up: the root (empty) or a side folder. Undefined for files further down. */
function projectFolderOf(path: string): string | undefined {
  const first = path.indexOf('/');
  if (first === -1) return '';
  const second = path.indexOf('/', first + 1);
  if (second === -1) return path.slice(0, first);
  return path.includes('/', second + 1) || !containers.has(path.slice(0, first)) ? undefined : path.slice(0, second);
}

/**
 * Returns the commands that install what a repository's lock files and manifests name. If the root has no lock file, those
 * of side folders count, too: the folders of the root, and those of its folders that usually contain projects. A
 * `requirements.txt` there does not count if the root has a manifest: it is then usually for documentation or benchmarks.
 * `manifest` has the fields of the package.json in the root.
 */
export async function detectSetup(paths: Iterable<string>, manifest: Manifest = {}): Promise<Detected> {
  const names = await namesByFolder(paths);
  const root = names.get('') ?? new Set();
  names.delete('');
  const inRoot = rulesFor(root).filter(({ files }) => !files.includes('package.json') || namesPackages(manifest));
  const own = otherManifests.filter((name) => root.has(name));
  const isPython = (rule: Rule) => rule.files.includes('requirements.txt');
  const unknown = inRoot.some(({ program }) => pythonPrograms.includes(program)) ? [] : own;
  const commands = inRoot.map((rule) => commandOf(rule, manifest.packageManager));
  if (inRoot.some(({ isLoose }) => !isLoose))
    return { commands, folders: [], unknown: [...unknown, ...lockFilesIn(names)] };
  const hasManifest = inRoot.length > 0 || own.length > 0;
  const counts = (rule: Rule) => !(rule.isLoose || (hasManifest && isPython(rule)));
  const parts = [...names]
    .map(([folder, files]) => ({ folder, rules: rulesFor(files).filter(counts) }))
    .filter(({ rules }) => rules.length > 0)
    .sort((a, b) => (a.folder < b.folder ? -1 : 1))
    .slice(0, maxParts);
  const below = parts.flatMap(({ folder, rules }) =>
    rules.map(({ command, program }) => ({ programs: [program], command: `${entering(folder)}${command}` })),
  );
  const setUp = new Set(parts.map(({ folder }) => folder));
  // With a manifest in the root, those in side folders without a lock file are mostly of examples.
  const loose = hasManifest ? [] : manifestsIn(names, setUp);
  const folders = [...new Set([...setUp, ...loose.map((path) => path.slice(0, path.lastIndexOf('/')))])];
  return { commands: [...commands, ...below], folders, unknown: [...unknown, ...loose] };
}

const pythonPrograms = ['uv', 'poetry', 'pipenv', 'pip3'];

/** Returns the lock files in side folders. */
function lockFilesIn(names: Map<string, Set<string>>): string[] {
  return [...names]
    .flatMap(([folder, files]) =>
      rulesFor(files)
        .filter(({ isLoose }) => !isLoose)
        .flatMap((rule) => rule.files.filter((name) => files.has(name)).map((name) => `${folder}/${name}`)),
    )
    .sort()
    .slice(0, maxParts);
}

/** Returns the manifests in side folders for which there is no command. */
function manifestsIn(names: Map<string, Set<string>>, known: Set<string>): string[] {
  const isManifest = (name: string) => wanted.has(name) && !noManifests.has(name);
  return [...names]
    .filter(([folder]) => !known.has(folder))
    .flatMap(([folder, files]) => [...files].filter(isManifest).map((name) => `${folder}/${name}`))
    .sort()
    .slice(0, maxParts);
}

/** Files of rules that name no packages. */
const noManifests = new Set(['.yarnrc.yml', 'gradlew', 'mvnw', 'deno.json', 'deno.jsonc', 'requirements.txt']);

/** Returns the beginning of a command that runs in a folder; empty for the root. */
export function entering(folder: string): string {
  return folder === '' ? '' : `cd ${quoted(folder)} && `;
}

/** Names of files that a rule or this module looks for, and endings of names. */
const wanted = new Set([
  ...groups.flatMap((group) => group.flatMap(({ files }) => files)),
  ...[...otherManifests, '.yarnrc.yml'],
]);

/** More side folders are not looked at. */
const maxFolders = 1000;

/** Returns the names of the wanted files in the root, under an empty name, and in each side folder. There may be half a million paths. */
async function namesByFolder(paths: Iterable<string>): Promise<Map<string, Set<string>>> {
  const names = new Map<string, Set<string>>([['', new Set()]]);
  await inPortions(paths, (path) => {
    const folder = projectFolderOf(path);
    if (folder === undefined) return;
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (!wanted.has(name) && !wanted.has(endingOf(name))) return;
    const known = names.get(folder);
    if (known !== undefined) known.add(name);
    else if (names.size <= maxFolders) names.set(folder, new Set([name]));
  });
  return names;
}

/** Returns the ending of a name in the form of the rules: `*.sln`. */
function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot === -1 ? '' : `*${name.slice(dot)}`;
}

function rulesFor(files: Set<string>): Rule[] {
  const endings = new Set([...files].map(endingOf));
  return groups.flatMap((group) => {
    const rule = group.find((each) => each.files.some((name) => files.has(name) || endings.has(name)));
    if (rule === undefined) return [];
    // Newer versions of Yarn, which have this file, renamed the option.
    const isNewYarn = rule.program === 'yarn' && files.has('.yarnrc.yml');
    return [isNewYarn ? { ...rule, command: 'yarn install --immutable' } : rule];
  });
}

/** A manager and its exact version, as Corepack reads them: `pnpm@9.1.0`, with or without a hash of the program. */
const pin = /^(pnpm|yarn)@\d+\.\d+\.\d+(?:[-+][\w.+-]{1,200})?$/;

/** Returns the command of a rule. Corepack provides the version of pnpm or Yarn that package.json pins, where it is there. */
function commandOf({ program, command }: Rule, packageManager: unknown): DetectedCommand {
  const [, manager] = pin.exec(String(packageManager)) ?? [];
  if (manager !== program) return { programs: [program], command };
  return { programs: [program, 'corepack'], command: `${pinning(program)}${command}` };
}

/**
 * Returns the beginning of a command that calls a package manager which package.json pins. Corepack puts it into the home
 * folder, so the agent and the checks have it, too.
 */
export function pinning(manager: string): string {
  const folder = '~/.local/bin';
  return `if command -v corepack > /dev/null; then mkdir -p ${folder} && corepack enable --install-directory ${folder} ${manager}; fi && `;
}

/** The fields of a package.json, of any type. */
export type Manifest = Record<string, unknown>;

/** Returns whether npm has something to install where there is no lock file. */
function namesPackages(manifest: Manifest): boolean {
  const lists = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
  return lists.some((name) => Object.keys(Object(manifest[name])).length > 0);
}

/** A manifest of more bytes is not read. */
const maxManifest = 256_000;

/**
 * Reads a package.json, or another manifest in JSON, of a commit or tree. Returns no fields where it is missing, broken or too large.
 */
export async function readManifest(checkout: Checkout, commit: string, path = 'package.json'): Promise<Manifest> {
  const file = await checkout.readFile(commit, path);
  if (!Buffer.isBuffer(file) || file.length > maxManifest) return {};
  try {
    const manifest: unknown = JSON.parse(file.toString('utf8').replace(/^\uFEFF/, ''));
    return typeof manifest === 'object' && manifest !== null ? (manifest as Manifest) : {};
  } catch {
    return {};
  }
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) && !text.startsWith('-') ? text : `'./${text.replaceAll("'", "'\\''")}'`;
}

/** Files that name the versions of what set-up installs, or of the programs that it runs. */
const knownFiles = new Set([
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
  ...['yarn.lock', '.yarnrc.yml', '.yarnrc', 'bun.lock', 'bun.lockb', 'deno.json', 'deno.lock', '.npmrc'],
  ...['uv.lock', 'poetry.lock', 'pyproject.toml', 'requirements.txt', 'requirements-dev.txt', 'constraints.txt'],
  ...['Pipfile.lock', 'setup.py', 'setup.cfg', 'environment.yml', 'pdm.lock'],
  ...[
    'go.mod',
    'go.sum',
    'go.work',
    'go.work.sum',
    'Cargo.toml',
    'Cargo.lock',
    'rust-toolchain',
    'rust-toolchain.toml',
  ],
  ...[
    'Gemfile',
    'Gemfile.lock',
    'composer.json',
    'composer.lock',
    'mix.exs',
    'mix.lock',
    'pubspec.yaml',
    'pubspec.lock',
  ],
  ...['pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.lockfile'],
  ...['gradle.properties', 'packages.lock.json', 'global.json', 'Package.resolved', 'Podfile.lock', 'flake.lock'],
  ...['.nvmrc', '.node-version', '.python-version', '.ruby-version', '.go-version', '.java-version', '.tool-versions'],
  ...['.sdkmanrc', 'mise.toml', '.mise.toml'],
]);

/** Returns whether a file decides by default whether set-up runs again: a known name, in the root or a side folder. */
export function isKnownCacheFile(path: string): boolean {
  return projectFolderOf(path) !== undefined && knownFiles.has(path.slice(path.lastIndexOf('/') + 1));
}

/** A command that prepares a folder of the repository. */
export interface DetectedCommand {
  command: string;
  /** The program that it needs. Where that is missing, the command is left out. */
  program: string;
}

interface Rule extends DetectedCommand {
  /** The command is used where one of these files exists, in the root of the repository or in one of its top folders. */
  files: string[];
}

/**
 * The commands that package managers document for installing exactly what a lock file names. In each group, the first
 * matching rule applies, because a repository may still have the lock file of a manager that it no longer uses.
 */
const groups: Rule[][] = [
  [
    { files: ['pnpm-lock.yaml'], program: 'pnpm', command: 'pnpm install --frozen-lockfile' },
    { files: ['bun.lock', 'bun.lockb'], program: 'bun', command: 'bun install --frozen-lockfile' },
    { files: ['yarn.lock'], program: 'yarn', command: 'yarn install --frozen-lockfile' },
    { files: ['package-lock.json', 'npm-shrinkwrap.json'], program: 'npm', command: 'npm ci' },
  ],
  [
    { files: ['uv.lock'], program: 'uv', command: 'uv sync --frozen' },
    { files: ['poetry.lock'], program: 'poetry', command: 'poetry install --no-interaction' },
    {
      // Into the home folder: a virtual environment in the workspace is kept only where git ignores it.
      files: ['requirements.txt'],
      program: 'pip3',
      command: 'PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install --user -r requirements.txt',
    },
  ],
  [{ files: ['go.mod'], program: 'go', command: 'go mod download' }],
  [{ files: ['Cargo.lock'], program: 'cargo', command: 'cargo fetch --locked' }],
  [
    {
      files: ['Gemfile.lock'],
      program: 'bundle',
      command: 'bundle config set --global path "$HOME/.gems" && bundle install',
    },
  ],
  [{ files: ['composer.lock'], program: 'composer', command: 'composer install --no-interaction --no-progress' }],
];

/** Maximum number of top folders for which commands are detected when the root has none of the files. */
const maxParts = 10;

/**
 * Returns the commands that install what a repository's lock files and manifests name. If the root contains none of
 * them, returns the commands for the folders in the root.
 */
export function detectSetup(paths: Iterable<string>): DetectedCommand[] {
  const names = new Map<string, Set<string>>();
  for (const path of paths) {
    const [folder, name, more] = path.includes('/') ? path.split('/', 3) : ['', path];
    if (folder === undefined || name === undefined || more !== undefined) continue;
    names.set(folder, (names.get(folder) ?? new Set()).add(name));
  }
  const inRoot = commandsFor(names.get('') ?? new Set());
  if (inRoot.length > 0) return inRoot;
  const parts = [...names].filter(([, files]) => commandsFor(files).length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return parts
    .slice(0, maxParts)
    .flatMap(([folder, files]) =>
      commandsFor(files).map(({ command, program }) => ({ program, command: `cd ${quoted(folder)} && ${command}` })),
    );
}

function commandsFor(files: Set<string>): DetectedCommand[] {
  return groups.flatMap((group) => {
    const rule = group.find((each) => each.files.some((name) => files.has(name)));
    if (rule === undefined) return [];
    const { program, command } = rule;
    // Newer versions of Yarn, which have this file, renamed the option.
    const isNewYarn = program === 'yarn' && files.has('.yarnrc.yml');
    return [{ program, command: isNewYarn ? 'yarn install --immutable' : command }];
  });
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

/** Returns whether a file decides by default whether set-up runs again: a known name, at the root or one level down. */
export function isKnownCacheFile(path: string): boolean {
  const parts = path.split('/');
  return parts.length <= 2 && knownFiles.has(parts.at(-1) ?? '');
}

// What a trial finds out about a repository that .deckhand.yml should say, and the draft of that file.

import { invisible } from '../domain/text/invisible.ts';
import type { Checkout } from '../git/engine.ts';
import { inPortions } from '../git/work-tree/tree-files.ts';
import { type Manifest, readManifest } from './detect.ts';

/** The files of a commit in which usual checks are looked for, and what its package manager is called. */
interface Given {
  paths: ReadonlyMap<string, unknown>;
  /** Returns the text of a file in the root; empty where it is missing or too large. */
  read(path: string): Promise<string>;
  /** The fields of the package.json in the root. */
  manifest: Manifest;
}

/** Commands that check the same in different ways. The first that passes is proposed. */
type Alternatives = string[];

/** Ways of finding usual checks, one for each kind of project. */
const finders: ((given: Given) => Alternatives | Promise<Alternatives>)[] = [
  ({ paths, manifest }) => (hasTestScript(manifest) ? [`${managerOf(paths, manifest)} test`] : []),
  ({ paths, manifest }) =>
    !hasTestScript(manifest) && (paths.has('deno.json') || paths.has('deno.jsonc')) ? ['deno test'] : [],
  async ({ paths, read }) => {
    const file = ['GNUmakefile', 'makefile', 'Makefile'].find((name) => paths.has(name));
    const text = file === undefined ? '' : await read(file);
    return ['test', 'check']
      .filter((target) => new RegExp(`^${target}[ \\t]*:(?!=)`, 'm').test(text))
      .map((target) => `make ${target}`);
  },
  ({ paths }) => (paths.has('go.mod') ? ['go test ./...'] : []),
  ({ paths }) => (paths.has('Cargo.toml') ? ['cargo test'] : []),
  async ({ paths }) =>
    (await some(paths, (path) => path.startsWith('t/') && path.endsWith('.t'))) ? ['prove -lr t'] : [],
  async ({ paths }) =>
    (await some(paths, (path) => path.endsWith('.py') && isPythonTest.test(path.slice(path.lastIndexOf('/') + 1))))
      ? ['python3 -m pytest', 'python3 -m unittest']
      : [],
  async ({ paths }) => {
    if (!paths.has('Rakefile') || !(await some(paths, (path) => path.startsWith('test/') || path.startsWith('spec/'))))
      return [];
    return paths.has('Gemfile') ? ['bundle exec rake test', 'bundle exec rake spec'] : ['rake test', 'rake spec'];
  },
  ({ paths }) => (paths.has('pom.xml') ? [`${paths.has('mvnw') ? 'sh ./mvnw' : 'mvn'} -B -q -o test`] : []),
  ({ paths }) => {
    if (!paths.has('build.gradle') && !paths.has('build.gradle.kts')) return [];
    return [`${paths.has('gradlew') ? 'sh ./gradlew' : 'gradle'} --no-daemon -q --offline test`];
  },
  ({ paths }) => (paths.has('mix.exs') ? ['mix test'] : []),
  async ({ paths }) =>
    (await some(paths, (path) => /\.(sln|slnx|csproj|fsproj)$/.test(path.slice(-8)) && !path.includes('/')))
      ? ['dotnet test --no-restore']
      : [],
];

/** Returns the commands with which projects of the kinds that a commit contains usually check themselves. */
export async function usualChecks(checkout: Checkout, commit: string, paths: Given['paths']): Promise<Alternatives[]> {
  const given: Given = {
    paths,
    manifest: await readManifest(checkout, commit),
    read: async (path) => {
      const file = await checkout.readFile(commit, path);
      return Buffer.isBuffer(file) ? file.toString('utf8', 0, maxBytes) : '';
    },
  };
  const found: Alternatives[] = [];
  for (const find of finders) found.push(await find(given));
  return found.filter((commands) => commands.length > 0);
}

/** Bytes that are read of a Makefile. */
const maxBytes = 256_000;

/** There may be half a million paths, so other requests are served in between. */
async function some(paths: Given['paths'], isWanted: (path: string) => boolean): Promise<boolean> {
  let isFound = false;
  await inPortions(paths.keys(), (path) => {
    isFound ||= isWanted(path);
  });
  return isFound;
}

const isPythonTest = /^(test_.*|.*_test)\.py$/;

/** npm writes a script `test` that fails into each new package.json. */
function hasTestScript({ scripts }: Manifest): boolean {
  const { test } = (typeof scripts === 'object' && scripts !== null ? scripts : {}) as { test?: unknown };
  return typeof test === 'string' && test !== '' && !test.includes('no test specified');
}

function managerOf(paths: Given['paths'], { packageManager }: Manifest): string {
  const [, pinned] = /^(npm|pnpm|yarn|bun)@/.exec(String(packageManager)) ?? [];
  if (pinned !== undefined) return pinned === 'bun' ? 'bun run' : pinned;
  if (paths.has('pnpm-lock.yaml') || paths.has('pnpm-workspace.yaml')) return 'pnpm';
  if (paths.has('bun.lock') || paths.has('bun.lockb')) return 'bun run';
  return paths.has('yarn.lock') ? 'yarn' : 'npm';
}

/** A service that the output of a command asks for. */
interface NeededService {
  /** What .deckhand.yml lists for it. */
  run: string;
  port: number;
}

/** The services of the usual ports, with a command that starts each as an ordinary user. */
const services: NeededService[] = [
  {
    port: 5432,
    run: 'initdb -D /tmp/postgres -U postgres >/dev/null; exec postgres -D /tmp/postgres -k /tmp -h 127.0.0.1',
  },
  { port: 6379, run: 'redis-server --save "" --dir /tmp' },
  { port: 3306, run: 'mariadbd --no-defaults --datadir=/tmp/mariadb --socket=/tmp/mariadb.sock --skip-grant-tables' },
  { port: 27017, run: 'mkdir -p /tmp/mongo && exec mongod --dbpath /tmp/mongo --bind_ip 127.0.0.1' },
  { port: 11211, run: 'memcached -l 127.0.0.1' },
];

/** Returns the services to which commands could not connect, by what they wrote. */
export function neededServices(outputs: string[]): NeededService[] {
  const lines = outputs.flatMap((output) =>
    output.split('\n').filter((line) => isRefused.test(line) && isHere.test(line)),
  );
  return services.filter(({ port }) => lines.some((line) => new RegExp(`\\b${port}\\b`).test(line)));
}

const isRefused = /refused|cannot assign|can't connect|could not connect/i;
const isHere = /\b(?:localhost|127\.0\.0\.1)\b|::1\b/i;

/** A command of a trial, with null for the exit code of one that was stopped. */
interface Command {
  command: string;
  exitCode: number | null;
  seconds: number;
  output?: string;
}

/** What unittest, the test runner of Node and pytest say when they found no test. Some of them succeed then. */
const noTests = /^Ran 0 tests in |^(?:#|ℹ) tests 0$|\bno tests ran\b/m;

/** Returns whether a usual check succeeded, and did not say that it ran no test. */
export function hasPassed({ exitCode, output = '' }: Pick<Command, 'exitCode' | 'output'>): boolean {
  return exitCode === 0 && !noTests.test(output);
}

/** Returns whether a usual check ran tests and some failed. Another runner may not find them, and would hide that. */
export function hasFailingTests({ exitCode, output = '' }: Pick<Command, 'exitCode' | 'output'>): boolean {
  return exitCode === 1 && /\b\d{1,9} (?:failed|errors?)\b/.test(output);
}

/** What a draft is made from: the result of a trial that ended. */
interface TriedOut {
  image: string | null;
  commands: Command[];
  setupCommands: number;
  tried: Command[];
  refusedHosts: { host: string }[];
  missing: { program: string; image: string | null; command: string }[];
  services: NeededService[];
  checkout: string[];
}

/**
 * Drafts a .deckhand.yml that does what a trial did, with the usual checks that passed. What people should decide is a comment:
 * commands that failed, images for missing programs, services, and refused hosts. Returns null when there is nothing to
 * write.
 */
export function draftSettings(trial: TriedOut): string | null {
  const { image, commands, setupCommands, tried, refusedHosts, missing, services, checkout } = trial;
  const passed = tried.filter(hasPassed);
  const lines = [
    ...(checkout.length === 0 ? [] : [`checkout: { ${checkout.map((key) => `${key}: true`).join(', ')} }`]),
    ...(image === null ? imagesFor(missing) : [`image: ${yamlText(image)}`]),
    ...listOfSetup(commands.slice(0, setupCommands), missing),
    ...listOfChecks(commands.slice(setupCommands), passed),
    ...starting(services),
    ...allowing(refusedHosts.map(({ host }) => host).filter((host) => hostName.test(host))),
  ];
  return lines.length === 0 ? null : `${lines.join('\n')}\n`;
}

/**
 * Lists the commands of set-up. One that failed was usually detected and of no use, so it is a comment, and so is one whose program
 * is missing: with a list of commands, nothing else is detected.
 */
function listOfSetup(commands: Command[], missing: TriedOut['missing']): string[] {
  if (commands.length === 0) return [];
  // An empty list would mean that nothing is set up.
  const begin = commands.some(({ exitCode }) => exitCode === 0) ? '' : '# ';
  return [
    `${begin}setup:`,
    ...commands.map(
      (each) => `${each.exitCode === 0 ? '' : '# '}  - ${yamlText(each.command)}${remark(each.exitCode)}`,
    ),
    ...missing.map(({ command, program }) => `#   - ${yamlText(command)} # where ${program} is installed`),
  ];
}

function listOfChecks(configured: Command[], passed: Command[]): string[] {
  if (configured.length + passed.length === 0) return [];
  return [
    'checks:',
    ...configured.map(({ command, exitCode }) => `  - ${yamlText(command)}${remark(exitCode)}`),
    ...passed.map(({ command, seconds }) => `  - ${yamlText(command)} # ${seconds} s in the trial`),
  ];
}

function remark(exitCode: number | null): string {
  if (exitCode === 0) return '';
  return exitCode === null ? ' # was stopped in the trial' : ` # exit code ${exitCode} in the trial`;
}

function imagesFor(missing: TriedOut['missing']): string[] {
  return missing.flatMap(({ program, image }) =>
    image === null ? [] : [`# image: ${yamlText(image)} # an image for ${program}, which is not installed`],
  );
}

function starting(services: NeededService[]): string[] {
  if (services.length === 0) return [];
  return [
    '# Commands could not connect to these services. They need programs that are installed where commands run.',
    '# services:',
    ...services.map(({ run, port }) => `#   - { run: ${JSON.stringify(run)}, port: ${port} }`),
  ];
}

/** A name that .deckhand.yml can allow. The list of refused hosts also has addresses, and an entry for further hosts. */
const hostName = /^(?=.{1,253}$)([a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/i;

function allowing(hosts: string[]): string[] {
  if (hosts.length === 0) return [];
  return [
    '# These hosts were refused. To allow those that you trust, remove the # before the lines you need.',
    '# network:',
    `#   setup: [${['defaults', ...hosts].join(', ')}]`,
    `#   agent: [${hosts.join(', ')}] # also for checks`,
  ];
}

/** Text that YAML reads as itself without quotation marks, and not as a number, a boolean or null. */
const isPlain = (text: string) =>
  /^[a-z][\w./@+=-]*( [\w./@+=-]+)*$/i.test(text) && !/^(true|false|yes|no|on|off|y|n|null)$/i.test(text);

/** Formats text as a YAML scalar. Characters that are invisible or reorder text are written as escapes. */
function yamlText(text: string): string {
  if (isPlain(text)) return text;
  return JSON.stringify(text).replace(invisible, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

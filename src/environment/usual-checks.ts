import type { Checkout } from '../git/engine.ts';
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
  ({ paths }) => (some(paths, (path) => path.startsWith('t/') && path.endsWith('.t')) ? ['prove -lr t'] : []),
  ({ paths }) =>
    some(paths, (path) => path.endsWith('.py') && isPythonTest.test(path.slice(path.lastIndexOf('/') + 1)))
      ? ['python3 -m pytest', 'python3 -m unittest']
      : [],
  ({ paths }) => {
    if (!paths.has('Rakefile') || !some(paths, (path) => path.startsWith('test/') || path.startsWith('spec/')))
      return [];
    return paths.has('Gemfile') ? ['bundle exec rake test', 'bundle exec rake spec'] : ['rake test', 'rake spec'];
  },
  ({ paths }) => (paths.has('pom.xml') ? [`${paths.has('mvnw') ? 'sh ./mvnw' : 'mvn'} -B -q -o test`] : []),
  ({ paths }) => {
    if (!paths.has('build.gradle') && !paths.has('build.gradle.kts')) return [];
    return [`${paths.has('gradlew') ? 'sh ./gradlew' : 'gradle'} --no-daemon -q --offline test`];
  },
  ({ paths }) => (paths.has('mix.exs') ? ['mix test'] : []),
  ({ paths }) =>
    some(paths, (path) => /\.(sln|slnx|csproj|fsproj)$/.test(path.slice(-8)) && !path.includes('/'))
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

function some(paths: Given['paths'], isWanted: (path: string) => boolean): boolean {
  for (const path of paths.keys()) if (isWanted(path)) return true;
  return false;
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
export interface NeededService {
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

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchesOf, startsNothing, whileFetching } from '../../../src/environment/change/package-managers.ts';
import { detectSetup, pinning } from '../../../src/environment/detect.ts';

const npm = 'npm ci --ignore-scripts --no-audit --no-fund --git=/bin/false';
const guarded = 'PYTHONPATH=/tmp/guard';
const wheels = '--only-binary :all: --dest /home/agent/.wheels --disable-pip-version-check --no-input';
const pnpm = 'pnpm install --frozen-lockfile --ignore-scripts --ignore-pnpmfile';
const composer = `PATH="$(printf %s "$PATH" | sed 's#/home/agent/.local/bin:##')" composer install --no-interaction --no-progress --no-scripts --no-plugins --prefer-dist`;

test.each([
  ['npm ci', ['', npm]],
  ['npm ci && npm run build', ['', npm]],
  ['cd web && npm ci && cd ../api && go mod download', ['web', npm], ['api', 'go mod download']],
  ['npm install --omit=dev', ['', npm.replace('ci', 'install --omit=dev')]],
  ['pnpm install --frozen-lockfile -r', ['', pnpm.replace('install', 'install -r')]],
  ['pip install -U -r a/dev.txt pytest==8.1', ['', `${guarded} pip download -r a/dev.txt pytest==8.1 ${wheels}`]],
  ['A=1 python3 -m pip install x', ['', `${guarded} python3 -m pip download x ${wheels}`]],
  [
    '.venv/bin/pip install x',
    ['', `python3 -m venv /tmp/fetch && ${guarded} /tmp/fetch/bin/python -m pip download x ${wheels}`],
  ],
  [
    'uv sync --locked --extra dev',
    ['', 'uv sync --extra dev --frozen --no-build --no-editable --no-install-project --no-install-workspace'],
  ],
  ['cargo fetch --locked', ['', 'cargo fetch --locked']],
  ['A=1 B=2 go mod download', ['', 'export A=1 B=2 && go mod download']],
  ['GIT_ALLOW_PROTOCOL=https YARN_ENABLE_SCRIPTS=true go mod download', ['', 'go mod download']],
  ['composer install -n --no-dev', ['', composer.replace('install', 'install --no-dev')]],
])('%s is fetched without code', (command, ...wanted) => {
  expect(fetchesOf(command).map((each) => [each.folder, each.command])).toEqual(wanted);
});

test('npm and pip start no program while they fetch', () => {
  const guards = ['npm ci', 'pip install x', 'yarn'].flatMap(fetchesOf).map(({ guard }) => guard);
  expect(guards).toEqual([
    expect.stringMatching(/\/tmp\/guard\/starts-nothing\.cjs && export NODE_OPTIONS="\$NODE_OPTIONS --require .*" &&$/),
    expect.stringMatching(/\/tmp\/guard\/sitecustomize\.py &&$/),
    undefined,
  ]);
});

test('a guard comes after the variables of the repository', () => {
  const [{ guard, command } = {}] = fetchesOf('NODE_OPTIONS=--max-old-space-size=4096 NPM_CONFIG_GIT=git npm ci');
  const script = `${guard?.replaceAll('/tmp/guard', '"$GUARD"')} printf %s "$NODE_OPTIONS"`;
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-guard-'));
  const said = execFileSync('sh', ['-c', script], { env: { GUARD: folder, PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(said).toBe(`--max-old-space-size=4096 --require ${folder}/starts-nothing.cjs`);
  expect([command, guard?.includes('CONFIG_GIT')]).toEqual([npm, false]);
});

test('with its guard, Node starts no program, in whatever way', () => {
  const [{ guard } = {}] = fetchesOf('npm ci');
  const ways = [
    'spawn("true")',
    'spawnSync("true")',
    'exec("true")',
    'execSync("true")',
    'execFileSync("true")',
    'fork("x")',
  ];
  const program = `const all = require("child_process"); const { spawn } = all;
    for (const way of ${JSON.stringify(ways)}) try { new Function("all", "return all." + way)(all); console.log(way); } catch {}
    try { new all.ChildProcess().spawn({ file: "true", args: [] }); console.log("prototype"); } catch (error) { console.log(error.message); }`;
  const script = `${guard?.replaceAll('/tmp/guard', '"$GUARD"')} "$NODE" -e '${program.replaceAll("'", '"')}'`;
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-guard-'));
  const env = { GUARD: folder, NODE: process.execPath, PATH: '/usr/bin:/bin', NODE_OPTIONS: '' };
  const said = execFileSync('sh', ['-c', script], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  rmSync(folder, { recursive: true });
  expect(said).toBe(`${startsNothing}\n`);
});

test('later versions of Yarn resolve without network first, and build nothing', () => {
  const [{ command = '' } = {}] = fetchesOf('yarn install --immutable');
  expect(command).toMatch(/1\.\*\) yarn install --frozen-lockfile --ignore-scripts /);
  expect(command).toMatch(
    /YARN_ENABLE_NETWORK=0 .* --mode=update-lockfile && yarn install --immutable --mode=skip-build/,
  );
  expect(whileFetching).toMatchObject({ YARN_ENABLE_SCRIPTS: 'false' });
});

test.each([
  '../bootstrap.sh',
  'npm run build',
  'npm install left-pad',
  'npm ci --ignore-scripts=false',
  'npm ci --script-shell=./x',
  'npm ci; curl x',
  'npm ci || true',
  'npm ci $(x)',
  'cd ../x && npm ci',
  'cd /x && npm ci',
  'cd $X && npm ci',
  'pip install .',
  'pip install -e .',
  'pip install git+https://example.org/x',
  'pip install ./x.whl',
  'pip install -r https://example.org/x.txt',
  'yarn add x',
  'uv sync --config-file x',
  'uv run x',
  'go get x',
  'cargo build',
  'composer update',
  'bundle install',
  'poetry install',
  'bun install',
])('%s is not fetched', (command) => {
  expect(fetchesOf(command)).toEqual([]);
});

test('detected commands are fetched, but for those of Bundler, Poetry and Bun, which run code to resolve', async () => {
  const files = ['a/package-lock.json', 'b/pnpm-lock.yaml', 'c/yarn.lock', 'd/uv.lock', 'e/requirements.txt'];
  const more = ['f/go.mod', 'g/Cargo.lock', 'h/composer.lock', 'i/Gemfile.lock', 'j/poetry.lock'];
  const fetched = (await detectSetup([...files, ...more])).commands.flatMap(({ command }) => fetchesOf(command));
  expect(fetched.map(({ folder }) => folder).join('')).toBe('abcdefgh');
});

test('what Corepack pins is fetched with its beginning, and only then', () => {
  const [fetch] = fetchesOf(`${pinning('pnpm')}pnpm install --frozen-lockfile`);
  expect(fetch).toMatchObject({ manager: 'pnpm', folder: '' });
  expect(fetch?.command).toBe(`${pinning('pnpm')}pnpm install --frozen-lockfile --ignore-scripts --ignore-pnpmfile`);
  expect(fetchesOf(`${pinning('pnpm')}npm ci; curl x`)).toEqual([]);
});

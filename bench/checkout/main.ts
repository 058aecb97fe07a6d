import { spawnSync } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../src/app.ts';
import { type Choosing, chooseFiles } from '../../src/environment/files/choose-files.ts';
import type { Checkout } from '../../src/git/engine.ts';
import { cached } from '../../src/git/native/cached.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { noProxies } from '../../src/host/proxies.ts';
import { noSettings } from '../../src/repositories/settings/repository-settings.ts';
import { say } from '../figures.ts';
import { serveCounting } from './host.ts';
import { git, makeLfs, makeMonorepo, makeNested } from './repositories.ts';

type Chosen = Partial<Choosing['settings']['checkout']>;

/** What the measurements share: the host, and a folder for each of them. */
interface Stage {
  dir: string;
  host: Awaited<ReturnType<typeof serveCounting>>;
  /** Does something in a new folder, which is removed afterwards, and prints what it took. */
  measure(what: string, act: (folder: string) => Promise<unknown>): Promise<void>;
  /** Checks out as a run does. */
  open(folder: string, name: string, chosen: Chosen, isCached?: boolean): Promise<{ checkout: Checkout; head: string }>;
}

/**
 * Measures what `checkout` of .deckhand.yml costs and saves, in seconds and bytes, against git and git-lfs on the same host: a
 * monorepo, a repository with many files in Git LFS, and one with nested submodules.
 */
export async function checkoutSpeed(files = 300_000, objects = 5000): Promise<void> {
  // In memory if possible: some disks slow down after thousands of files, which would distort the result.
  const root = await access('/dev/shm').then(
    () => '/dev/shm',
    () => tmpdir(),
  );
  const dir = await mkdtemp(join(root, 'deckhand-bench-checkout-'));
  const host = await serveCounting(dir);
  try {
    const stage = stageIn(dir, host);
    await monorepo(stage, files);
    await largeFiles(stage, objects);
    await nested(stage);
  } finally {
    host.close();
    await rm(dir, { recursive: true, force: true });
  }
}

function stageIn(dir: string, host: Stage['host']): Stage {
  const engine = nativeGit();
  const withCache = cached(engine, join(dir, 'cache'));
  let places = 0;
  return {
    dir,
    host,
    measure: async (what, act) => {
      const folder = join(dir, `c${places++}`);
      await mkdir(folder);
      const [before, began] = [host.sent(), performance.now()];
      await act(folder);
      const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
      say(`${what.padEnd(52)} ${seconds} s ${((host.sent() - before) / 1e6).toFixed(1).padStart(7)} MB`);
      await rm(folder, { recursive: true });
    },
    open: async (folder, name, chosen, isCached = false) => {
      const git = isCached ? withCache : engine;
      const config = { GITHUB_SERVER_URL: host.url, ALLOW_PRIVATE_HOSTS: false, proxies: noProxies };
      const app = { git, config, egress: { defaultHosts: async () => [] } } as unknown as App;
      const settings = { ...noSettings, checkout: { submodules: false, lfs: false, paths: [], ...chosen } };
      const remote = { url: `${host.url}/mona/${name}`, token: 'x', ...(isCached ? { scope: 'bench' } : {}) };
      const signal = AbortSignal.timeout(1_800_000);
      const folders = { gitDir: join(folder, 'git'), workTree: join(folder, 'work') };
      const checkout = await git.open(remote, folders, signal);
      const head = (await checkout.fetch('main')) ?? '';
      await chooseFiles(checkout, { app, remote, signal, settings });
      await checkout.checkout(head);
      await checkout.remember();
      return { checkout, head };
    },
  };
}

const run =
  ({ open }: Stage, name: string, chosen: Chosen, isCached = false) =>
  async (folder: string) => {
    const { checkout } = await open(folder, name, chosen, isCached);
    await checkout.close();
  };

async function monorepo(stage: Stage, files: number): Promise<void> {
  const { dir, host, measure } = stage;
  await mkdir(join(dir, 'cache'));
  await makeMonorepo(dir, files);
  const url = `${host.url}/mona/monorepo`;
  const paths = ['apps/0', 'apps/1'];
  say(`A monorepo of ${files} files; the task needs two folders`);
  await measure('git clone --depth 1', (folder) => git(folder, 'clone', '-q', '--depth=1', url, 'c'));
  await measure('git clone --depth 1 --filter=blob:none --sparse', async (folder) => {
    await git(folder, 'clone', '-q', '--depth=1', '--filter=blob:none', '--sparse', url, 'c');
    await git(join(folder, 'c'), 'sparse-checkout', 'set', ...paths);
  });
  await measure('a run without checkout.paths', run(stage, 'monorepo', {}));
  await measure('a run with checkout.paths, the first', run(stage, 'monorepo', { paths }, true));
  await measure('a run with checkout.paths, later', run(stage, 'monorepo', { paths }, true));
}

async function largeFiles(stage: Stage, objects: number): Promise<void> {
  const { dir, host, measure, open } = stage;
  await makeLfs(dir, objects);
  say(`\nA repository with ${objects} files of 10 kB in Git LFS`);
  const clone = ['clone', '-q', '--depth=1'];
  await measure('git clone --depth 1, pointers only', (folder) => git(folder, ...clone, `${host.url}/mona/lfs`, 'c'));
  const filter = [
    ...['-c', 'filter.lfs.process=git-lfs filter-process', '-c', 'filter.lfs.required=true'],
    ...['-c', 'filter.lfs.smudge=git-lfs smudge -- %f', '-c', 'filter.lfs.clean=git-lfs clean -- %f'],
  ];
  const withToken = `${host.url.replace('//', '//x:x@')}/mona/lfs.git`;
  if (spawnSync('git-lfs', ['version']).status === 0)
    await measure('git clone --depth 1, with git-lfs', (folder) => git(folder, ...clone, ...filter, withToken, 'c'));
  else say('git clone --depth 1, with git-lfs: git-lfs is not installed');
  await measure('a run with checkout.lfs', run(stage, 'lfs', { lfs: true }));
  await measure('the same, and 100 changed files uploaded', async (folder) => {
    const { checkout, head } = await open(folder, 'lfs', { lfs: true });
    for (let i = 0; i < 100; i++) await writeFile(join(folder, `work/${i % 50}/${i}.bin`), `${i}`.repeat(5000));
    const tree = await checkout.snapshot();
    await checkout.largeFiles?.upload(tree, await checkout.changes(head, tree), 'refs/heads/x');
    await checkout.close();
  });
}

async function nested(stage: Stage): Promise<void> {
  const { dir, host, measure } = stage;
  await makeNested(dir);
  say('\nA repository with 10 submodules, each with 2 inside it');
  const clone = ['clone', '-q', '--depth=1', '--recurse-submodules', '--shallow-submodules'];
  await measure('git clone --depth 1 --recurse-submodules', (folder) =>
    git(folder, ...clone, `${host.url}/mona/nested`, 'c'),
  );
  await measure('a run with checkout.submodules', run(stage, 'nested', { submodules: true }));
}

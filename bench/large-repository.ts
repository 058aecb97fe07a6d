import { execFile } from 'node:child_process';
import { access, chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startModel } from '../demo/model/model.ts';
import { startService } from '../demo/real-service.ts';
import { median, say } from './figures.ts';
import { settingsWithoutApp } from './settings.ts';
import { serve } from './small-github.ts';
import { prepareTasks } from './tasks.ts';

const files = 4000;
const rounds = 5;
const person = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];
const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
};
const git = (cwd: string, ...args: string[]) =>
  promisify(execFile)('git', [...person, ...args], { cwd, env, maxBuffer: 1 << 26 });

/**
 * Measures a run on a repository of 4,000 files, with a model that answers immediately, against a script that clones
 * and pushes the same. Measures once without a cache and once with the cache of the previous run.
 */
export async function largeRepositorySpeed(databaseUrl: string): Promise<void> {
  // Use memory if possible: some disks slow down after thousands of files, which would distort the result.
  const root = await access('/dev/shm').then(
    () => '/dev/shm',
    () => tmpdir(),
  );
  const dir = await mkdtemp(join(root, 'deckhand-bench-large-'));
  await chmod(dir, 0o711);
  const bare = await fill(dir);
  const host = await serve(() => bare);
  const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
  const model = await startModel([[write], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]]);
  const dataDir = join(dir, 'data');
  const service = await startService(
    await settingsWithoutApp({ databaseUrl, dataDir, hostUrl: host.url, modelUrl: model.url }),
  );
  const url = `${host.url}/mona/large`;
  try {
    const runTask = await prepareTasks(service, url, 'Large');
    const [script, cold, warm]: [number[], number[], number[]] = [[], [], []];
    for (let i = 0; i < rounds; i++) {
      script.push(await byScript(dir, url, i));
      await dropCaches(dataDir);
      cold.push(await runTask());
      warm.push(await runTask());
    }
    report(script, cold, warm);
  } finally {
    await service.stop();
    await model.close();
    host.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Deletes the git cache. It is in one of two folders, like the workspaces (docs/operations.md, "The sandbox"). */
async function dropCaches(dataDir: string): Promise<void> {
  for (const place of ['/var/lib/deckhand/work', dataDir]) {
    const cache = join(place, 'git-cache');
    for (const name of await readdir(cache).catch(() => [])) await rm(join(cache, name), { recursive: true });
  }
}

function report(script: number[], cold: number[], warm: number[]): void {
  const line = (times: number[], wanted: number) => {
    const ratio = (median(times) / median(script)).toFixed(2);
    return `median ${median(times).toFixed(0)} ms, ${ratio} of the script (at most ${wanted} wanted)`;
  };
  say(`git by script    median ${median(script).toFixed(0)} ms for clone --depth 1 and push, ${files} files`);
  say(`a run, cold      ${line(cold, 1.5)}`);
  say(`a run, cached    ${line(warm, 0.7)}`);
}

/** Creates the repository. Returns the folder of its bare copy. */
async function fill(dir: string): Promise<string> {
  const [work, bare] = [join(dir, 'fill'), join(dir, 'bare.git')];
  await mkdir(work);
  await git(work, 'init', '-q', '-b', 'main');
  for (let i = 0; i < files; i++) {
    const folder = join(work, `src/part${i % 100}`);
    if (i < 100) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `file${i}.js`), `export const value${i} = ${i};\n`.repeat(1 + (i % 60)));
  }
  await git(work, 'add', '-A');
  await git(work, 'commit', '-q', '-m', 'many files');
  await git(dir, 'clone', '-q', '--bare', work, bare);
  await git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  return bare;
}

/** Does with git alone what a run does, and returns the time. */
async function byScript(dir: string, url: string, round: number): Promise<number> {
  const began = performance.now();
  const work = join(dir, `script${round}`);
  await git(dir, 'clone', '-q', '--depth', '1', url, work);
  await writeFile(join(work, 'made.txt'), 'x\n');
  await git(work, 'add', '-A');
  await git(work, 'commit', '-q', '-m', 'made');
  await git(work, 'push', '-q', 'origin', `HEAD:script-${round}`);
  return performance.now() - began;
}

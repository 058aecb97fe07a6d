import { execFile } from 'node:child_process';
import { access, chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startModel } from '../src/demo/model/model.ts';
import { startService, until } from '../src/demo/real-service.ts';
import { freePort } from '../src/demo/settings.ts';
import { median, say } from './figures.ts';
import { serve } from './small-github.ts';

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
 * The service's own time for a run on a repository of 4,000 files, with a model that answers at once, against the same
 * clone and push by script; cold and with what the run before left in the cache.
 */
export async function largeRepositorySpeed(databaseUrl: string): Promise<void> {
  // In memory where that is possible: a disk that is held back after the first thousands of files would be measured.
  const root = await access('/dev/shm').then(
    () => '/dev/shm',
    () => tmpdir(),
  );
  const dir = await mkdtemp(join(root, 'deckhand-bench-large-'));
  await chmod(dir, 0o711);
  const bare = await fill(dir);
  const host = await serve(bare);
  const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
  const model = await startModel([[write], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]]);
  const port = String(await freePort());
  const settings: Record<string, string> = {
    PORT: port,
    BASE_URL: `http://localhost:${port}`,
    METRICS_PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(dir, 'data'),
    JWT_SECRET: 'a secret of the bench that is long enough',
    ENCRYPTION_KEY: '22'.repeat(32),
    GITHUB_API_URL: host.url,
    GITHUB_SERVER_URL: host.url,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'scripted',
    GITHUB_WRITE_INTERVAL_MS: '0',
    RATE_LIMIT_REQUESTS: '0',
    LOG_LEVEL: 'warn',
  };
  const service = await startService(settings);
  try {
    const token = await service.token('bench');
    const call = <T>(method: string, path: string, body?: object) => service.api<T>(token, method, path, body);
    const project = await call<{ id: string }>('POST', '/projects', { name: 'Large' });
    await call('POST', `/projects/${project.id}/git-token`, { token: 'any' });
    await call('POST', '/repositories', { projectId: project.id, name: 'large', url: `${host.url}/mona/large` });
    const agents = await call<{ id: string; name: string }[]>('GET', '/agents');
    const owner = agents[0]?.id;
    const one = async () => {
      const task = await call<{ id: string }>('POST', `/projects/${project.id}/tasks`, { title: 'Large', owner });
      await call('POST', `/tasks/${task.id}/start`);
      const run = await until('the run', async () => {
        const [found] = await call<Ended[]>('GET', `/tasks/${task.id}/runs`);
        if (found?.status === 'failed') throw new Error(JSON.stringify(found.failure));
        return found?.status === 'succeeded' && found;
      });
      return Date.parse(run.finishedAt) - Date.parse(run.startedAt);
    };
    const [plain, cold, warm]: [number[], number[], number[]] = [[], [], []];
    const caches = ['/var/lib/deckhand/work', settings.DATA_DIR ?? ''].map((place) => join(place, 'git-cache'));
    for (let i = 0; i < rounds; i++) {
      plain.push(await byScript(dir, `${host.url}/mona/large`, i));
      for (const cache of caches)
        for (const name of await readdir(cache).catch(() => [])) await rm(join(cache, name), { recursive: true });
      cold.push(await one());
      warm.push(await one());
    }
    const ratio = (times: number[]) => (median(times) / median(plain)).toFixed(2);
    say(`git by script    median ${median(plain).toFixed(0)} ms for clone --depth 1 and push, ${files} files`);
    say(`a run, cold      median ${median(cold).toFixed(0)} ms, ${ratio(cold)} of the script (1.5 wanted)`);
    say(`a run, cached    median ${median(warm).toFixed(0)} ms, ${ratio(warm)} of the script (0.7 wanted)`);
  } finally {
    await service.stop();
    await model.close();
    host.close();
    await rm(dir, { recursive: true, force: true });
  }
}

interface Ended {
  status: string;
  startedAt: string;
  finishedAt: string;
  failure: object | null;
}

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

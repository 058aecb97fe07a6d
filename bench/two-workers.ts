import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startModel } from '../src/demo/model/model.ts';
import { startService, until } from '../src/demo/real-service.ts';
import { makeSampleRepository } from '../src/demo/sample-repository.ts';
import { freePort } from '../src/demo/settings.ts';
import { say } from './figures.ts';
import { serve } from './small-github.ts';

const runs = 100;
const agentsOfOurs = 20;

/** 100 runs that wait for two workers on one database, with a model that answers at once; none may be done twice. */
export async function twoWorkerSpeed(databaseUrl: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-bench-two-'));
  await makeSampleRepository(join(dir, 'bare.git'), dir);
  const host = await serve(join(dir, 'bare.git'));
  const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
  const model = await startModel([[write], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]]);
  const settingsOf = async (role: string): Promise<Record<string, string>> => {
    const port = String(await freePort());
    return {
      ROLE: role,
      PORT: port,
      BASE_URL: `http://localhost:${port}`,
      METRICS_PORT: '0',
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(dir, `${role}-${port}`),
      JWT_SECRET: 'a secret of the bench that is long enough',
      ENCRYPTION_KEY: '22'.repeat(32),
      GITHUB_API_URL: host.url,
      GITHUB_SERVER_URL: host.url,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: 'scripted',
      GITHUB_WRITE_INTERVAL_MS: '0',
      RATE_LIMIT_REQUESTS: '0',
      RATE_LIMIT_STARTS: '0',
      MAX_CONCURRENT_RUNS: '4',
      LOG_LEVEL: 'error',
    };
  };
  const web = await startService(await settingsOf('web'));
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const token = await web.token('two');
  const call = <T>(method: string, path: string, body?: object) => web.api<T>(token, method, path, body);
  const project = await call<{ id: string }>('POST', '/projects', { name: 'Two' });
  await call('POST', `/projects/${project.id}/git-token`, { token: 'any' });
  await call('POST', '/repositories', { projectId: project.id, name: 'sample', url: `${host.url}/mona/sample` });
  const owners: string[] = [];
  for (let i = 0; i < agentsOfOurs; i++)
    owners.push((await call<{ id: string }>('POST', '/agents', { name: `A${i}` })).id);
  for (let i = 0; i < runs; i++) {
    const owner = owners[i % owners.length];
    const task = await call<{ id: string }>('POST', `/projects/${project.id}/tasks`, { title: `Run ${i}`, owner });
    await call('POST', `/tasks/${task.id}/start`);
  }
  const began = performance.now();
  const workers = await Promise.all(
    [settingsOf('worker'), settingsOf('worker')].map(async (settings) => startService(await settings)),
  );
  try {
    await until(
      'all runs',
      async () => {
        const { rows } = await database.query(
          `select count(*)::int as n from runs where status not in ('queued', 'running')`,
        );
        return rows[0].n >= runs;
      },
      240_000,
    );
    const seconds = (performance.now() - began) / 1000;
    const { rows } = await database.query(
      `select count(*) filter (where r.status = 'succeeded')::int as good,
         (select count(*)::int from pull_requests p join tasks t on t.id = p.task_id where t.project_id = $1) as pulls,
         (select count(*)::int from handoffs h join tasks t on t.id = h.task_id where t.project_id = $1) as handoffs
       from runs r where r.project_id = $1`,
      [project.id],
    );
    const { good, pulls, handoffs } = rows[0];
    say(
      `two workers      ${((runs / seconds) * 60).toFixed(0)} runs a minute; of ${runs} runs ${good} succeeded, ${pulls} pull requests, ${handoffs} handoffs (none doubled wanted)`,
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await web.stop();
    await database.end();
    await model.close();
    host.close();
    await rm(dir, { recursive: true, force: true });
  }
}

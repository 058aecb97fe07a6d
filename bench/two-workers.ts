import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startModel } from '../demo/model/model.ts';
import { type RunningService, startService, until } from '../demo/real-service.ts';
import { makeSampleRepository } from '../demo/sample-repository.ts';
import { say } from './figures.ts';
import { settingsWithoutApp } from './settings.ts';
import { serve } from './small-github.ts';

const runs = 100;
const agents = 20;

/**
 * Lets two workers on one database share 100 queued runs, with a model that answers immediately. No run may be executed
 * twice.
 */
export async function twoWorkerSpeed(databaseUrl: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-bench-two-'));
  await makeSampleRepository(join(dir, 'bare.git'), dir);
  const host = await serve(() => join(dir, 'bare.git'));
  const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
  const model = await startModel([[write], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]]);
  const start = async (role: 'web' | 'worker', name: string) => {
    const given = { databaseUrl, dataDir: join(dir, name), hostUrl: host.url, modelUrl: model.url };
    return startService({ ...(await settingsWithoutApp(given)), ROLE: role, MAX_CONCURRENT_RUNS: '4' });
  };
  const web = await start('web', 'web');
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const projectId = await queueRuns(web, `${host.url}/mona/sample`);
  const began = performance.now();
  const workers = await Promise.all([start('worker', 'one'), start('worker', 'two')]);
  try {
    const areDone = async () => (await countEnded(database)) >= runs;
    await until('all runs', areDone, 240_000);
    const seconds = (performance.now() - began) / 1000;
    say(
      `two workers      ${((runs / seconds) * 60).toFixed(0)} runs a minute; ${await outcomeOf(database, projectId)}`,
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

/** Queues the runs, distributed over the agents, in a new project; returns its id. */
async function queueRuns(web: RunningService, url: string): Promise<string> {
  const token = await web.token('two');
  const post = <T>(path: string, body?: object) => web.api<T>(token, 'POST', path, body);
  const project = await post<{ id: string }>('/projects', { name: 'Two' });
  await post(`/projects/${project.id}/git-token`, { token: 'any' });
  await post('/repositories', { projectId: project.id, name: 'sample', url });
  const owners: string[] = [];
  for (let i = 0; i < agents; i++) owners.push((await post<{ id: string }>('/agents', { name: `A${i}` })).id);
  for (let i = 0; i < runs; i++) {
    const owner = owners[i % owners.length];
    const task = await post<{ id: string }>(`/projects/${project.id}/tasks`, { title: `Run ${i}`, owner });
    await post(`/tasks/${task.id}/start`);
  }
  return project.id;
}

async function countEnded(database: pg.Client): Promise<number> {
  const { rows } = await database.query(
    `select count(*)::int as n from runs where status not in ('queued', 'running', 'waiting')`,
  );
  return rows[0].n;
}

async function outcomeOf(database: pg.Client, projectId: string): Promise<string> {
  const { rows } = await database.query(
    `select count(*) filter (where r.status = 'succeeded')::int as good,
       (select count(*)::int from pull_requests p join tasks t on t.id = p.task_id where t.project_id = $1) as pulls,
       (select count(*)::int from handoffs h join tasks t on t.id = h.task_id where t.project_id = $1) as handoffs
     from runs r where r.project_id = $1`,
    [projectId],
  );
  const { good, pulls, handoffs } = rows[0];
  return `of ${runs} runs ${good} succeeded, ${pulls} pull requests, ${handoffs} handoffs (${runs} of each wanted)`;
}

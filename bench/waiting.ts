import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startModel } from '../demo/model/model.ts';
import { type RunningService, startService, until } from '../demo/real-service.ts';
import { makeSampleRepository } from '../demo/sample-repository.ts';
import { startEmbedded } from '../src/db/embedded/embedded.ts';
import { median, say } from './figures.ts';
import { settingsWithoutApp } from './settings.ts';
import { serve } from './small-github.ts';

const few = 10;
const agents = 20;
/** Starts of the service with each number of runs. Their medians are compared. */
const starts = 3;
/** How long an idle service runs before its memory is read. */
const settleMs = 5000;

/**
 * Compares ten waiting runs with many: how long the service takes to start, and its memory. Then answers all of them and
 * counts those that go on to their end. One run asks its question for real; the others are copies of its rows.
 */
export async function waitingSpeed(many = 1000): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-bench-waiting-'));
  const postgres = await startEmbedded({ dataDir: join(dir, 'database') });
  await makeSampleRepository(join(dir, 'bare.git'), dir);
  const host = await serve(() => join(dir, 'bare.git'));
  const ask = { name: 'ask_person', arguments: { question: 'Which one?', options: ['this', 'that'] } };
  const model = await startModel([[ask], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]]);
  const given = { databaseUrl: postgres.url, dataDir: join(dir, 'data'), hostUrl: host.url, modelUrl: model.url };
  const settings = { ...(await settingsWithoutApp(given)), MAX_CONCURRENT_RUNS: '4' };
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  let service: RunningService | undefined;
  try {
    service = await startService(settings);
    const taskId = await firstWaiting(service, `${host.url}/mona/sample`);
    for (const [from, to] of [
      [1, few],
      [few, many],
    ] as const) {
      await copyRuns(database, taskId, from, to);
      const ready: number[] = [];
      const memory: number[] = [];
      for (let i = 0; i < starts; i++) {
        await service.stop();
        const began = performance.now();
        service = await startService(settings);
        ready.push(performance.now() - began);
        await sleep(settleMs);
        memory.push(residentMb(service));
      }
      say(`${to} waiting runs: start ${median(ready).toFixed(0)} ms, memory ${median(memory).toFixed(0)} MB`);
    }
    await answerAll(service, database, many);
  } finally {
    await service?.stop();
    await database.end();
    await model.close();
    host.close();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

function residentMb({ process: { pid } }: RunningService): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Starts a task whose agent asks a question, and returns its id once the run waits. */
async function firstWaiting(service: RunningService, url: string): Promise<string> {
  const token = await service.token('bench');
  const call = <T>(method: string, path: string, body?: object) => service.api<T>(token, method, path, body);
  const project = await call<{ id: string }>('POST', '/projects', { name: 'Waiting' });
  await call('POST', `/projects/${project.id}/git-token`, { token: 'any' });
  await call('POST', '/repositories', { projectId: project.id, name: 'sample', url });
  const owners: string[] = [];
  for (let i = 0; i < agents; i++) owners.push((await call<{ id: string }>('POST', '/agents', { name: `A${i}` })).id);
  const body = { title: 'Wait', owner: owners[0] };
  const task = await call<{ id: string }>('POST', `/projects/${project.id}/tasks`, body);
  await call('POST', `/tasks/${task.id}/start`);
  await until('the question', async () => {
    const { attention } = await call<{ attention: { reason: string } | null }>('GET', `/tasks/${task.id}`);
    return attention?.reason === 'question';
  });
  return task.id;
}

/** Copies a task with its waiting run until there are `to` of them, distributed over the agents. */
async function copyRuns(database: pg.Client, taskId: string, from: number, to: number): Promise<void> {
  const copies = `generate_series($2::int, $3::int) n`;
  const agent = `(select (array_agg(id order by id))[1 + n % ${agents}] from agents where name ~ '^A[0-9]+$')`;
  const copy = (table: string, changes: string, where: string) =>
    database.query(
      `insert into ${table} select (jsonb_populate_record(o, jsonb_build_object(${changes}))).*
       from ${table} o, ${copies} where ${where}`,
      [taskId, from, to - 1],
    );
  await copy('tasks', `'id', 'task_' || n, 'owner', ${agent}`, 'o.id = $1');
  await copy('runs', `'id', 'run_' || n, 'task_id', 'task_' || n, 'agent_id', ${agent}`, 'o.task_id = $1');
  const ofRun = 'o.run_id = (select id from runs where task_id = $1)';
  for (const table of ['run_turns', 'run_contexts', 'run_steps']) await copy(table, `'run_id', 'run_' || n`, ofRun);
}

/** Answers every run and waits until all have ended. */
async function answerAll(service: RunningService, database: pg.Client, many: number): Promise<void> {
  const token = await service.token('bench');
  const { rows } = await database.query<{ id: string }>('select id from tasks');
  const began = performance.now();
  for (const { id } of rows) await service.api(token, 'POST', `/tasks/${id}/answer`, { text: '2' });
  let most = 0;
  const ended = await until(
    'all runs',
    async () => {
      most = Math.max(most, residentMb(service));
      const { rows: found } = await database.query<{ status: string; count: number }>(
        'select status, count(*)::int as count from runs group by status',
      );
      const isOver = found.every(({ status }) => !['queued', 'running', 'waiting'].includes(status));
      return isOver && found.map(({ status, count }) => `${count} ${status}`).join(', ');
    },
    3_600_000,
  );
  const minutes = (performance.now() - began) / 60_000;
  say(`after a restart and their answers: ${ended} (expected: ${many} succeeded)`);
  say(`they took ${minutes.toFixed(1)} minutes; memory at most ${most.toFixed(0)} MB`);
}

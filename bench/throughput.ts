import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type ModelRequest, type Said, startModel, textOf } from '../demo/model/model.ts';
import { type RunningService, startService, until } from '../demo/real-service.ts';
import { makeSampleRepository } from '../demo/sample-repository.ts';
import { type EmbeddedPostgres, startEmbedded } from '../src/db/embedded/embedded.ts';
import { say } from './figures.ts';
import { settingsWithoutApp } from './settings.ts';
import { serve } from './small-github.ts';

const agents = 20;
/** The runs that each worker carries out at a time. */
const slots = 4;
/** `/proc` counts processor time in hundredths of a second, on every Linux that Node supports. */
const ticksPerSecond = 100;

/** Six turns, like those of a small task. Each task makes a file of its own, named after its title. */
const turns: Said[] = [
  [{ name: 'list_files', arguments: {} }],
  [{ name: 'read_file', arguments: { path: 'src/slugify.js' } }],
  [{ name: 'read_file', arguments: { path: 'test/slugify.test.js' } }],
  [{ name: 'write_file', arguments: { path: 'TITLE.txt', content: 'x\n' } }],
  [{ name: 'edit_file', arguments: { path: 'TITLE.txt', oldText: 'x', newText: 'y' } }],
  [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
];

const script = (request: ModelRequest, turn: number): Said => {
  const [title = ''] = /run-\d+/.exec(textOf(request)) ?? [];
  return JSON.parse(JSON.stringify(turns[turn] ?? turns.at(-1)).replaceAll('TITLE', title));
};

/**
 * Lets one worker, and then `most`, carry out `count` queued runs of six turns with a model that answers at once. Prints
 * the runs a minute, and what a run costs the workers and PostgreSQL. No run may be executed twice.
 */
export async function throughput(count = 100, most = 4): Promise<void> {
  for (const workers of new Set([1, most])) await measure(count, workers);
}

async function measure(count: number, workerCount: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'deckhand-bench-throughput-'));
  const postgres = await startCounting(join(dir, 'database'));
  await makeSampleRepository(join(dir, 'bare.git'), dir);
  const host = await serve(() => join(dir, 'bare.git'));
  const model = await startModel(script);
  const start = async (role: 'web' | 'worker', name: string) => {
    const given = { databaseUrl: postgres.url, dataDir: join(dir, name), hostUrl: host.url, modelUrl: model.url };
    return startService({ ...(await settingsWithoutApp(given)), ROLE: role, MAX_CONCURRENT_RUNS: String(slots) });
  };
  const web = await start('web', 'web');
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  const workers: RunningService[] = [];
  try {
    const projectId = await queueRuns(web, `${host.url}/mona/sample`, count);
    await database.query('select pg_stat_statements_reset()');
    const before = await processorSeconds([await serverPid(postgres)]);
    const began = performance.now();
    for (let i = 0; i < workerCount; i++) workers.push(await start('worker', `worker-${i}`));
    await until('all runs', async () => (await countEnded(database)) >= count, 600_000);
    const seconds = (performance.now() - began) / 1000;
    const ours = await processorSeconds(workers.map((worker) => worker.process.pid ?? 0));
    const theirs = (await processorSeconds([await serverPid(postgres)])) - before;
    const { statements, transactions, bytes } = await written(database);
    const each = (all: number, digits = 2) => (all / count).toFixed(digits);
    say(
      `${workerCount} worker${workerCount === 1 ? ' ' : 's'} of ${slots}   ${((count / seconds) * 60).toFixed(0)} runs a minute; ${await outcomeOf(database, projectId, count)}\n` +
        `  a run costs    ${each(ours)} processor seconds of the workers and git, ${each(theirs)} of PostgreSQL\n` +
        `                 ${each(statements, 0)} statements, ${each(transactions, 0)} transactions, ${each(bytes / 1000, 0)} kB of write-ahead log`,
    );
    if (process.env.STATEMENTS === '1') await sayStatements(database, count);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await web.stop();
    await database.end();
    await model.close();
    host.close();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Starts PostgreSQL with its extension that counts statements. */
async function startCounting(dataDir: string): Promise<EmbeddedPostgres> {
  const first = await startEmbedded({ dataDir });
  await ask(first.url, `alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await first.stop();
  const postgres = await startEmbedded({ dataDir });
  await ask(postgres.url, 'create extension pg_stat_statements');
  return postgres;
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Queues the runs, distributed over the agents, in a new project; returns its id. */
async function queueRuns(web: RunningService, url: string, count: number): Promise<string> {
  const token = await web.token('two');
  const post = <T>(path: string, body?: object) => web.api<T>(token, 'POST', path, body);
  const project = await post<{ id: string }>('/projects', { name: 'Throughput' });
  await post(`/projects/${project.id}/git-token`, { token: 'any' });
  await post('/repositories', { projectId: project.id, name: 'sample', url });
  const owners: string[] = [];
  for (let i = 0; i < agents; i++) owners.push((await post<{ id: string }>('/agents', { name: `A${i}` })).id);
  for (let i = 0; i < count; i++) {
    const owner = owners[i % owners.length];
    const task = await post<{ id: string }>(`/projects/${project.id}/tasks`, { title: `Make run-${i}.txt`, owner });
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

async function outcomeOf(database: pg.Client, projectId: string, count: number): Promise<string> {
  const { rows } = await database.query(
    `select count(*) filter (where r.status = 'succeeded')::int as good,
       (select count(*)::int from pull_requests p join tasks t on t.id = p.task_id where t.project_id = $1) as pulls,
       (select count(*)::int from handoffs h join tasks t on t.id = h.task_id where t.project_id = $1) as handoffs
     from runs r where r.project_id = $1`,
    [projectId],
  );
  const { good, pulls, handoffs } = rows[0];
  return `of ${count} runs ${good} succeeded, ${pulls} pull requests, ${handoffs} handoffs (${count} of each wanted)`;
}

async function written(database: pg.Client) {
  const { rows } = await database.query(
    `select sum(calls)::int as statements, sum(calls) filter (where query ilike 'commit%')::int as transactions,
       sum(wal_bytes)::float8 as bytes from pg_stat_statements`,
  );
  return rows[0] as { statements: number; transactions: number; bytes: number };
}

/** Prints the statements that run most often, so that somebody who reduces them knows where to begin. */
async function sayStatements(database: pg.Client, count: number): Promise<void> {
  const { rows } = await database.query(
    `select calls, total_exec_time as ms, regexp_replace(query, '\\s+', ' ', 'g') as query from pg_stat_statements
     order by total_exec_time desc limit 90`,
  );
  for (const { calls, ms, query } of rows)
    say(`${(calls / count).toFixed(1).padStart(7)} ${(ms / count).toFixed(2).padStart(7)} ms  ${query.slice(0, 150)}`);
}

/** Returns the process of the server, which has its port on its command line. */
async function serverPid({ url }: EmbeddedPostgres): Promise<number> {
  const option = `\0-p\0${new URL(url).port}\0`;
  for (const pid of await pids())
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(option)) return pid;
  throw new Error('the process of PostgreSQL was not found');
}

const pids = async () => (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);

/** Returns the processor time of these processes and all their descendants, those that have ended included. */
async function processorSeconds(roots: number[]): Promise<number> {
  const parents = new Map<number, { parent: number; ticks: number }>();
  for (const pid of await pids()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) continue;
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    parents.set(pid, { parent: fields[1] ?? 0, ticks: user + system + endedUser + endedSystem });
  }
  const isOurs = (pid: number): boolean =>
    roots.includes(pid) || (parents.has(pid) && isOurs(parents.get(pid)?.parent ?? 0));
  let ticks = 0;
  for (const [pid, each] of parents) if (isOurs(pid)) ticks += each.ticks;
  return ticks / ticksPerSecond;
}

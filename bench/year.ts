import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrations } from '../migrations/list.ts';
import type { App } from '../src/app.ts';
import { compose } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/db/database.ts';
import { startEmbedded } from '../src/db/embedded/embedded.ts';
import { removeOld } from '../src/jobs.ts';
import { createLogger } from '../src/logger.ts';
import { say } from './figures.ts';
import { settingsWithoutApp } from './settings.ts';

/**
 * What a company leaves in a day: 36 million entries in the logs of runs, and 60 million deliveries, a year. 200 projects are
 * reconciled every 15 minutes; each of the simulated ones stands for ten.
 */
const daily = { runs: 3945, events: 25, turns: 6, deliveries: 164_384, signIns: 500, reconciliations: 960 };
/** The audit log is kept longest. Two quarters later, no table may have grown by more than this share in the last one. */
const [longestDays, quarter, mostGrowth] = [400, 91, 0.05];
/** Smaller growth is a matter of pages: each table and index has some that are not full. */
const noiseBytes = 128 * 1024;
/** Autovacuum would come about as often. It knows nothing of the simulated time. */
const vacuumDays = 7;
const month = 30;

/** What people look up for as long as the project exists. These tables grow with the work, and deleting a project empties them. */
const records = [
  ...[
    'agent_days',
    'agent_figures',
    'agent_skills',
    'handoffs',
    'person_spend_days',
    'proofs',
    'pull_requests',
    'quotes',
  ],
  ...['receipts', 'run_steps', 'runs', 'spend_days', 'task_counts', 'task_figures', 'tasks'],
];

/**
 * Simulates so many days at a fraction of the load of a company (100: a hundredth), and lets the service remove what is old
 * after each. Prints the sizes of the tables by month. Fails if a table that is not of records goes on growing.
 */
export async function year(fraction = 100, days = longestDays + 2 * quarter): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-year-'));
  const postgres = await startEmbedded({ dataDir: join(dataDir, 'database') });
  const stop = new AbortController();
  try {
    const migrated = await openDatabase(postgres.url, migrations);
    await migrated.close();
    const clock = await injectClock(postgres.url);
    const given = { databaseUrl: postgres.url, dataDir, hostUrl: 'http://127.0.0.1:9', modelUrl: 'http://127.0.0.1:9' };
    const config = readConfig({ ...(await settingsWithoutApp(given)), SANDBOX: 'off' });
    const { app, close } = await compose(config, createLogger(config), { isWorker: false, stopping: stop.signal });
    try {
      await simulate(app, clock, { fraction, days });
    } finally {
      await close();
      await clock.end();
    }
  } finally {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/**
 * Lets statements find another `now()` than PostgreSQL's, which returns the time in a table. Defaults of columns were bound to
 * PostgreSQL's before, so what is stored names its times.
 */
async function injectClock(url: string): Promise<pg.Client> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  await db.query(`
    create schema simulated;
    create table simulated.clock (at timestamptz not null);
    insert into simulated.clock values (pg_catalog.now());
    create function simulated.now() returns timestamptz language sql stable as 'select at from simulated.clock';
    do $$ begin execute format('alter database %I set search_path = public, simulated, pg_catalog', current_database()); end $$`);
  return db;
}

async function simulate(app: App, clock: pg.Client, { fraction, days }: { fraction: number; days: number }) {
  await app.db.transaction((em) => em.query(frame));
  const history: Map<string, number>[] = [];
  for (let day = 1; day <= days; day++) {
    await clock.query(`update simulated.clock set at = at + interval '1 day'`);
    await app.db.transaction((em) => em.query(dayOfWork(day, fraction)));
    await removeOld(app);
    if (day % vacuumDays === 0) await clock.query('vacuum (analyze)');
    history.push(await sizes(clock));
    if (day % month === 0) say(`month ${day / month}: ${described(history.at(-1) as Map<string, number>)}`);
  }
  await clock.query('vacuum (analyze)');
  judge(history, await sizes(clock));
}

/** Returns the bytes of each table with its indexes. */
async function sizes(db: pg.Client): Promise<Map<string, number>> {
  const { rows } = await db.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace order by 2 desc`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

const inMegabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;

function described(tables: Map<string, number>): string {
  const all = [...tables.values()].reduce((sum, bytes) => sum + bytes, 0);
  const largest = [...tables].sort(([, a], [, b]) => b - a).slice(0, 12);
  return `${inMegabytes(all)}: ${largest.map(([name, bytes]) => `${name} ${inMegabytes(bytes)}`).join(', ')}`;
}

function judge(history: Map<string, number>[], last: Map<string, number>): void {
  if (history.length < longestDays + 2 * quarter) {
    say(`fewer than ${longestDays + 2 * quarter} days, so growth is not judged`);
    return;
  }
  const before = history.at(-1 - quarter) as Map<string, number>;
  const growing = [...last].filter(([name, bytes]) => {
    const growth = bytes - (before.get(name) ?? 0);
    return !records.includes(name) && growth > noiseBytes && growth > mostGrowth * (before.get(name) ?? 0);
  });
  for (const [name, bytes] of growing)
    say(`${name} still grows: ${inMegabytes(before.get(name) ?? 0)} a quarter ago, ${inMegabytes(bytes)} now`);
  if (growing.length > 0) process.exitCode = 1;
  else say(`no table grew by more than ${100 * mostGrowth} % in the last quarter, except those of records`);
}

const frame = `
  insert into users (id, login) select 'user_' || n, 'user' || n from generate_series(1, 100) n;
  insert into projects (id, name, slug) select 'proj_' || n, 'Project ' || n, 'project-' || n from generate_series(1, 20) n;
  insert into agents (id, project_id, name, line_id) select 'agent_' || n, 'proj_' || n, 'Agent', 'agent_' || n from generate_series(1, 20) n;
  insert into repositories (id, project_id, name, url) select 'repo_' || n, 'proj_' || n, 'r', 'https://git.example.org/a/r' || n
    from generate_series(1, 20) n;
  insert into webhooks (id, project_id, url, events, format, key_id, ciphertext)
    select 'webhook_' || n, 'proj_' || n, 'https://hooks.example.org', '["task.status"]', 'standard', 'key', '' from generate_series(1, 20) n;
  insert into automations (id, project_id, name, trigger, task) select 'auto_' || n, 'proj_' || n, 'Nightly', '{}', '{}' from generate_series(1, 20) n;
  insert into read_marks (name, mark) values ('heard repo_1', '9999-01-01T00:00:00.000Z');`;

/** Returns the statements that store what a day leaves, as the service has stored it when the work is done. */
function dayOfWork(day: number, fraction: number): string {
  const most = (count: number) => Math.max(1, Math.round(count / fraction));
  const runs = most(daily.runs);
  const made = `from generate_series(1, ${runs}) n cross join lateral (
    select '${day}_' || n as id, 1 + n % 20 as p, now() - interval '1 day' + n * interval '1 day' / ${runs} as at) x`;
  const words = `repeat('What is to be done. ', 20)`;
  return `
    insert into tasks (id, project_id, title, description, status, owner, repository_id, created_at, status_since, done_at)
      select 'task_' || id, 'proj_' || p, 'Task ' || id, ${words}, 'done', 'agent_' || p, 'repo_' || p, at, at, at ${made};
    insert into runs (id, task_id, project_id, agent_id, kind, status, steps, input_tokens, output_tokens, cost_usd, created_at,
        started_at, finished_at)
      select 'run_' || id, 'task_' || id, 'proj_' || p, 'agent_' || p, 'start', 'succeeded', 6, 100000, 5000, 0.5, at, at, at ${made};
    insert into run_steps (run_id, name, data, at) select 'run_' || id, 'step ' || k, '{"commit": "0123456789"}', at
      ${made} cross join generate_series(1, 12) k;
    insert into run_events (run_id, type, text, at) select 'run_' || id, 'tool', 'read_file ' || ${words}, at
      ${made} cross join generate_series(1, ${daily.events});
    insert into run_contexts (run_id, opening) select 'run_' || id, to_json(repeat(md5(id), 200)) ${made};
    insert into run_turns (run_id, turn, messages, at)
      select 'run_' || id, k, to_json(repeat(md5(id || k), 100)), at ${made} cross join generate_series(0, ${daily.turns - 1}) k;
    insert into handoffs (id, task_id, run_id, summary, created_at) select 'handoff_' || id, 'task_' || id, 'run_' || id, ${words}, at ${made};
    insert into proofs (run_id, task_id, status, at) select 'run_' || id, 'task_' || id, 'no_tests', at ${made};
    insert into quotes (run_id, project_id, from_tasks, created_at) select 'run_' || id, 'proj_' || p, 1, at ${made};
    insert into diffs (task_id, branch_name, base_branch, head_sha, files, at)
      select 'task_' || id, 'b', 'main', 'sha', to_jsonb(array[repeat(md5(id), 100)]), at ${made};
    insert into audit_records (id, project_id, via, action, object_type, object_id, at)
      select 'audit_' || id || '_' || k, 'proj_' || p, 'token', 'task.start', 'task', 'task_' || id, at ${made} cross join generate_series(1, 4) k;
    insert into webhook_deliveries (webhook_id, event, lane, data, status, at, delivered_at)
      select 'webhook_' || p, 'run.ended', 'task_' || id, '{}', 'delivered', at, at ${made} cross join generate_series(1, 4);
    update webhook_deliveries set status = 'delivered', delivered_at = at where status = 'waiting';
    insert into project_events (project_id, kind, object_id, status, at) select 'proj_' || p, 'run', 'run_' || id, 'running', at
      ${made} cross join generate_series(1, 8);
    insert into handled_commands (key, at) select 'command ' || id, at ${made};
    insert into automation_causes (automation_id, cause, at, task_id, is_made, depth)
      select 'auto_' || p, id, at, 'task_' || id, true, 0 ${made};
    insert into idempotency_keys (user_id, request, key, digest, status, reply, created_at)
      select 'user_' || 1 + n % 100, 'POST /tasks', id, 'digest', 201, ${words}, at ${made};
    insert into deliveries (guid, event, signature, payload, digest, received_at, handled_at)
      select '${day} ' || n, 'push', 'signature', case when n % 100 = 0 then repeat(md5(n::text), 200) end, '', now(), now()
      from generate_series(1, ${most(daily.deliveries)}) n;
    insert into api_tokens (id, user_id, name, prefix, created_at, expires_at, is_session)
      select 'session_${day}_' || n, 'user_' || 1 + n % 100, 'session', 'p', now(), now() + interval '7 days', true
      from generate_series(1, ${most(daily.signIns)}) n;
    insert into sign_ins (state_digest, browser_digest, verifier, return_to, created_at)
      select '${day} ' || n, 'browser', 'verifier', '/', now() from generate_series(1, ${most(daily.signIns)}) n;
    insert into reconciliations (id, trigger, started_at, finished_at)
      select 'recon_${day}_' || n, 'scheduled', now(), now() from generate_series(1, ${most(daily.reconciliations)}) n;
    insert into reconciled_projects (reconciliation_id, project_id, checked)
      select 'recon_${day}_' || n, 'proj_' || p, 10
      from generate_series(1, ${most(daily.reconciliations)}) n, generate_series(1, 20) p;`;
}

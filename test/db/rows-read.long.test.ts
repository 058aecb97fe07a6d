import type { EntityManager } from 'typeorm';
import { migrations } from '../../migrations/list.ts';
import { listEvidence } from '../../src/agents/learning/evidence.ts';
import { listFinishedTasks } from '../../src/agents/learning/routes.ts';
import { listAuditRecords } from '../../src/audit/records.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { listTries } from '../../src/lab/portfolio.ts';
import { listEarlier } from '../../src/lab/trial-estimate.ts';
import { listFinished } from '../../src/runs/quote/store.ts';
import { listSessions } from '../../src/runs/sessions/store.ts';
import { addPasts, listOpenTasks } from '../../src/sprints/forecast-store.ts';
import { getSprint, listSprintTasks } from '../../src/sprints/store.ts';
import { listTasks } from '../../src/tasks/store.ts';
import { claimRun, hasClaimable } from '../../src/worker/lease/lease-store.ts';
import { createTestDatabase } from '../support/database.ts';
import { rowsRead } from './count-rows.ts';

// What a read costs must not grow with the tables. These reads once read all rows, because PostgreSQL expected too many
// or too few.

let db: Database;
let drop: () => Promise<void>;
const size = 20_000;

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  db = await openDatabase(database.url, migrations, { poolSize: 2 });
  await db.transaction(fill);
  await db.manager.query('vacuum analyze');
});
afterAll(async () => {
  await db.close();
  await drop();
});

/**
 * Stores tasks of ten projects and 200 sprints, each with a run and a request for changes. Half of the runs are of the
 * agent `busy` in one project, the others of 20 agents in all projects, so PostgreSQL expects few runs of one agent in
 * one project. ANALYZE reads as many rows as there are, so its statistics are always the same.
 */
async function fill(em: EntityManager): Promise<void> {
  // Without triggers and foreign keys.
  await em.query('set local session_replication_role = replica');
  await em.query(`insert into users (id, login) values ('mona', 'mona')`);
  await em.query(
    `insert into projects (id, name, slug) select 'p' || n, 'p' || n, 'p' || n from generate_series(0, 9) n`,
  );
  await em.query(`insert into members (project_id, user_id, role) select id, 'mona', 'owner' from projects`);
  await em.query(
    `insert into agents (id, project_id, name, line_id)
     select id, 'p0', id, id from (select 'busy' as id union all select 'agent' || n from generate_series(0, 19) n) a`,
  );
  await em.query(`insert into agent_figures (line_id, version, project_id, tasks) values ('busy', 1, 'p0', 1)`);
  await em.query(
    `insert into sprints (id, project_id, name, status, start_date, end_date, started_at, ended_at)
     select 's' || n, 'p' || n % 10, 's', case when n < 10 then 'active' else 'completed' end, current_date, current_date,
       now() - interval '1 day', case when n >= 10 then now() - make_interval(secs => n) end
     from generate_series(0, 199) n`,
  );
  await em.query(
    `insert into tasks (id, project_id, sprint_id, title, status)
     select 't' || n, 'p' || n % 10, 's' || n % 200, 't', case when n % 200 < 10 then 'ready' else 'done' end
     from generate_series(1, $1::int) n`,
    [size],
  );
  await em.query(
    `insert into sprint_history (sprint_id, task_id, status, at)
     select sprint_id, id, status, now() - interval '1 hour' from tasks`,
  );
  await em.query(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, failure, created_at, started_at, finished_at)
     select 'r' || n, 't' || n, case when n % 2 = 0 then 'p0' else 'p' || n / 2 % 10 end,
       case when n % 2 = 0 then 'busy' else 'agent' || n / 20 % 20 end, 'start', case when n % 3 = 0 then 'failed' else 'succeeded' end,
       case when n % 3 = 0 then '{"category": "gave_up", "message": "It is unclear."}'::jsonb end, at, at, at
     from generate_series(1, $1::int) n cross join lateral (select now() - make_interval(secs => n) as at) x order by md5(n::text)`,
    [size],
  );
  await em.query(
    `insert into revisions (id, task_id, source, text, created_at)
     select 'v' || n, 't' || n, 'review', 'Rename it.', now() from generate_series(1, $1::int) n`,
    [size],
  );
  // The first half of the records is of one project.
  await em.query(
    `insert into audit_records (id, project_id, via, action, object_type, object_id)
     select 'a' || n, case when n <= $1::int / 2 then 'p0' else 'p1' end, 'system', 'task.start', 'task', 't' || n
     from generate_series(1, $1::int) n order by n`,
    [size],
  );
}

test('evidence is read from the latest runs', async () => {
  const of = { agentId: 'busy', version: undefined };
  expect(await listEvidence(db.manager, 'mona', of, 100)).toHaveLength(300);
  const read = await rowsRead(db.manager, (em) => listEvidence(em, 'mona', of, 100));
  expect(read.runs).toBeLessThan(1000);
  expect(read.revisions).toBeLessThan(1000);
});

test('a comparison of versions reads the latest tasks', async () => {
  const of = { agentId: 'busy', from: new Date(0), until: null };
  expect((await listFinishedTasks(db.manager, 'mona', of)).length).toBeGreaterThan(200);
  const read = await rowsRead(db.manager, (em) => listFinishedTasks(em, 'mona', of));
  expect(read.runs).toBeLessThan(3000);
  expect(read.tasks).toBeLessThan(3000);
});

test('a forecast reads the open tasks of the sprint, and their past in its sprints', async () => {
  const now = new Date();
  const sprint = await getSprint(db.manager, 's0');
  const open = await listOpenTasks(db.manager, sprint.id, [], 1000, 10_000);
  expect(open).toHaveLength(100);
  expect((await rowsRead(db.manager, (em) => listOpenTasks(em, sprint.id, [], 1000, 10_000))).tasks).toBeLessThan(1000);
  expect((await addPasts(db.manager, sprint, open, now)).every(({ stays }) => stays.length === 1)).toBe(true);
  const read = await rowsRead(db.manager, (em) => addPasts(em, sprint, open, now));
  expect(read.sprint_history).toBeLessThan(2000);
  expect(read.runs).toBeLessThan(1000);
});

test('the audit log of a project is read without that of others', async () => {
  const page = { limit: 20, offset: 10 };
  const records = await listAuditRecords(db.manager, 'p0', page);
  expect(records.map(({ object }) => object.id)).toEqual(Array.from({ length: 21 }, (_, n) => `t${size / 2 - 10 - n}`));
  const read = await rowsRead(db.manager, (em) => listAuditRecords(em, 'p0', page));
  expect(read.audit_records).toBeLessThan(100);
});

test('the records of an object are read without those of others', async () => {
  const page = { limit: 20, offset: 0, object: 't7' };
  expect(await listAuditRecords(db.manager, 'p0', page)).toMatchObject([{ object: { type: 'task', id: 't7' } }]);
  expect(await listAuditRecords(db.manager, 'p1', page)).toEqual([]);
  const read = await rowsRead(db.manager, (em) => listAuditRecords(em, 'p0', page));
  expect(read.audit_records).toBeLessThan(10);
});

/** Stores 10,000 queued runs of so many projects, with five agents each, and asks for the rows of `runs` that are read. */
async function claimReads(projects: number, before: (em: EntityManager) => Promise<unknown> = async () => {}) {
  const undo = new Error('undo');
  const read: (number | undefined)[] = [];
  const work = db.transaction(async (em) => {
    await em.query('set local session_replication_role = replica');
    await em.query(
      `insert into runs (id, task_id, project_id, agent_id, kind, status, created_at)
       select 'q' || n, 'q' || n, 'p' || n % $1::int, 'a' || n / $1::int % 5, 'start', 'queued',
         now() - make_interval(hours => 1, secs => n) from generate_series(1, 10000) n`,
      [projects],
    );
    await before(em);
    await em.query('analyze runs');
    // The second claim finds the project of the first one busy.
    for (const ask of [claimRun, claimRun]) read.push((await rowsRead(em, (explained) => ask(explained, 30))).runs);
    read.push((await rowsRead(em, (explained) => hasClaimable(explained))).runs);
    throw undo;
  });
  await expect(work).rejects.toBe(undo);
  return Math.max(...read.map((rows) => rows ?? Number.POSITIVE_INFINITY));
}

test('a claim reads as little with 10,000 queued runs of one project or of a thousand', async () => {
  expect(await claimReads(1)).toBeLessThan(1000);
  expect(await claimReads(1000)).toBeLessThan(1000);
});

test('behind the queue of a busy project, a claim reads one run per agent of each other project', async () => {
  const behind = (em: EntityManager) =>
    em.query(
      `update runs set project_id = 'p0', agent_id = 'a0', created_at = created_at - interval '1 day',
         status = case when id = 'q1' then 'running' else status end, lease_until = now() + interval '1 hour'
       where id like 'q%' and (right(id, 1) <> '0')`,
    );
  expect(await claimReads(20, behind)).toBeLessThan(1000);
});

test('a claim reads as little when thousands of runs are more urgent, and their agents are busy', async () => {
  const urgent = (em: EntityManager) =>
    em.query(
      `update runs set priority = 'high', status = case when id = 'q1' then 'running' else status end,
         lease_until = now() + interval '1 hour', agent_id = 'a0'
       where id like 'q%' and right(id, 2) <> '00'`,
    );
  expect(await claimReads(1, urgent)).toBeLessThan(2500);
});

test('a claim reads as little when all of these runs let others go first', async () => {
  const behind = (em: EntityManager) => em.query(`update runs set kind = 'prove', agent_id = null where id like 'q%'`);
  expect(await claimReads(1, behind)).toBeLessThan(1500);
  expect(await claimReads(1000, behind)).toBeLessThan(1500);
});

test('a claim passes over the proofs of projects whose runs wait, most of them unread', async () => {
  const mixed = (age: string) => (em: EntityManager) =>
    em.query(
      `update runs set kind = 'prove', agent_id = null, created_at = created_at ${age}
       where id like 'q%' and substring(id, 2)::int / 1000 % 2 = 0`,
    );
  expect(await claimReads(1, mixed(''))).toBeLessThan(1500);
  expect(await claimReads(1000, mixed(''))).toBeLessThan(1500);
  // Behind so many older ones, it looks for one in each of the thousand projects.
  expect(await claimReads(1000, mixed(`- interval '1 day'`))).toBeLessThan(3500);
});

/**
 * Stores trials of an agent in a project without other tasks of the last days: 200 of 40 tries, each with a hidden task that is
 * newer than all others.
 */
async function fillTrials(em: EntityManager): Promise<void> {
  await em.query('set local session_replication_role = replica');
  await em.query(
    `insert into agent_trials (id, project_id, repository_id, agent_id, status, seed, budget_usd, created_at, finished_at)
     select 'trial' || n, 'p1', 'repo', 'busy', 'done', 'seed', 1, now() + make_interval(secs => n), now()
     from generate_series(1, 200) n`,
  );
  await em.query(
    `insert into agent_trial_arms (trial_id, arm, agent_id, version, model, system_prompt, prompt_hash)
     select id, 0, 'busy', 1, 'model', '', encode(sha256(''), 'hex') from agent_trials`,
  );
  await em.query(
    `insert into agent_trial_items (trial_id, place, item_id, title, text, base_sha, solution_sha, tests)
     select id, n, 'item' || n, 'i', 't', 'sha', 'sha' || n, '[]' from agent_trials, generate_series(1, 40) n`,
  );
  await em.query(
    `insert into agent_trial_runs (run_id, trial_id, place, arm, result)
     select trial_id || ' ' || place, trial_id, place, 0, 'solved' from agent_trial_items`,
  );
  await em.query(
    `insert into tasks (id, project_id, owner, title, status, hidden, created_at, done_at)
     select run_id, 'p1', 'busy', 't', 'done', true, now() + interval '1 day', now() + interval '1 day' from agent_trial_runs`,
  );
  await em.query(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, created_at, started_at, finished_at)
     select run_id, run_id, 'p1', 'busy', 'trial', 'succeeded', t.created_at, t.created_at, t.created_at
     from agent_trial_runs x join agent_trials t on t.id = x.trial_id`,
  );
}

test('lists pass over thousands of hidden tasks and their runs', async () => {
  await db.transaction(fillTrials);
  await db.manager.query('vacuum analyze');
  const page = { limit: 20, offset: 0 };
  const lists: ((em: EntityManager) => Promise<{ id: string }[]>)[] = [
    (em) => listTasks(em, 'p1', page),
    (em) => listTasks(em, 'p1', { ...page, status: 'done' }),
    (em) => listTasks(em, 'p1', { ...page, owner: 'busy' }),
    (em) => listSprintTasks(em, { backlogOf: 'p1' }, page),
    (em) => listSessions(em, 'p1', page),
  ];
  const found = await Promise.all(lists.map((list) => list(db.manager)));
  expect(found.map((rows) => rows.length)).toEqual([21, 21, 0, 0, 20]);
  for (const list of lists) {
    const { tasks = 0, runs = 0 } = await rowsRead(db.manager, list);
    expect(tasks + runs).toBeLessThan(200);
  }
});

test('a quote, an estimate and a portfolio read the latest tasks, runs and tries', async () => {
  const finished = await listFinished(db.manager, 'p1', 't0');
  expect(finished).toHaveLength(500);
  const quoted = await rowsRead(db.manager, (em) => listFinished(em, 'p1', 't0'));
  expect(quoted.tasks).toBeLessThan(3000);
  expect(quoted.runs).toBeLessThan(3000);
  const tries = await listTries(db.manager, 'repo');
  expect(tries.map(({ itemId }) => itemId).toSorted()).toEqual(
    Array.from({ length: 40 }, (_, n) => `item${n + 1}`).toSorted(),
  );
  const tried = await rowsRead(db.manager, (em) => listTries(em, 'repo'));
  expect(tried.runs).toBeLessThan(200);
  expect(tried.agent_trial_runs).toBeLessThan(3000);
  const arm = { agentId: 'busy', model: 'model', usualModel: '' };
  expect(await listEarlier(db.manager, arm, 'p1')).toHaveLength(100);
  const estimated = await rowsRead(db.manager, (em) => listEarlier(em, arm, 'p1'));
  expect(estimated.runs).toBeLessThan(1000);
  expect(estimated.agent_trial_runs).toBeLessThan(1000);
});

import { createHash } from 'node:crypto';
import { readConfig } from '../src/config.ts';
import { deleteOldDeliveries, forgetPayloads, markHandled } from '../src/github/delivery-store.ts';
import { removeOld } from '../src/jobs.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { makeEverything } from './support/everything.ts';

let service: TestApp;
let token: string;
let task: string;
let project: string;
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);

beforeAll(async () => {
  service = await openTestApp({ ALLOW_PRIVATE_HOSTS: 'true', KEEP_DELIVERIES: '2' });
  const world = await makeEverything(service);
  token = world.owner;
  task = world.ids.task ?? '';
  project = world.ids.projectId ?? '';
});
afterAll(() => service.close());

test('handled deliveries are removed after their days, others never', async () => {
  await sql(
    `insert into deliveries (guid, event, signature, payload, received_at, handled_at)
     select 'old ' || n, 'ping', '', '{}', now() - interval '49 hours', now() from generate_series(1, 1200) n`,
  );
  await sql(
    `insert into deliveries (guid, event, signature, payload, received_at, handled_at) values
       ('new', 'ping', '', '{}', now() - interval '47 hours', now()),
       ('unhandled', 'ping', '', '{}', now() - interval '400 days', null)`,
  );
  await removeOld(service.app);
  const left = await sql('select guid from deliveries order by guid');
  expect(left.map((row: { guid: string }) => row.guid)).toEqual(['new', 'unhandled']);
});

test('of the old deliveries the oldest are removed first', async () => {
  await sql(
    `insert into deliveries (guid, event, signature, payload, received_at, handled_at)
     select 'day ' || n, 'ping', '', '{}', now() - n * interval '1 day', now() from unnest(array[5, 7, 6]) n`,
  );
  expect(await deleteOldDeliveries(service.app.db.manager, 4, 2)).toBe(2);
  expect(await sql(`delete from deliveries where guid like 'day%' returning guid`)).toEqual([[{ guid: 'day 5' }], 1]);
});

test('a handled delivery keeps the digest of its payload; the payload stays only for trials of automations', async () => {
  const { manager } = service.app.db;
  for (const guid of ['dropped', 'kept'])
    await sql(`insert into deliveries (guid, event, signature, payload) values ($1, 'push', '', '{"a":"é"}')`, [guid]);
  await markHandled(manager, 'dropped', { keepsPayload: false });
  await markHandled(manager, 'kept', { keepsPayload: true });
  const digest = createHash('sha256').update('{"a":"é"}').digest('hex');
  const read = () =>
    sql(`select payload, encode(digest, 'hex') as digest from deliveries where event = 'push' order by guid`);
  expect(await read()).toEqual([
    { payload: null, digest },
    { payload: '{"a":"é"}', digest },
  ]);
  // As deliveries were stored before payloads were dropped.
  await sql(`update deliveries set digest = null, received_at = now() - interval '8 days' where guid = 'kept'`);
  expect(await forgetPayloads(manager, 7, 10)).toBe(1);
  expect((await read())[1]).toEqual({ payload: null, digest });
  await sql('delete from deliveries');
});

test('reconciliations, handled commands and diffs of finished tasks are removed after their days', async () => {
  const ages = `unnest(array[$1::int, $2::int]) n`;
  await sql(
    `insert into reconciliations (id, trigger, started_at, finished_at)
     select 'recon_' || n, 'scheduled', now() - n * interval '1 hour', now() from ${ages}`,
    [47, 49],
  );
  await sql(
    `insert into handled_commands (key, at) select 'days ' || n, now() - n * interval '1 day' from ${ages}`,
    [89, 91],
  );
  const keys = async () =>
    (await sql(`select key from handled_commands where key like 'days %' order by key`)).map(
      (r: { key: string }) => r.key,
    );
  await sql(`delete from read_marks where name like 'heard %'`);
  await sql(`insert into read_marks (name, mark) values ('heard repo_x', $1)`, [
    new Date(Date.now() - 100 * 86_400_000).toISOString(),
  ]);
  await removeOld(service.app);
  // A repository whose comments were read last 100 days ago may read the command again.
  expect(await keys()).toEqual(['days 89', 'days 91']);
  await sql(`update read_marks set mark = $1 where name = 'heard repo_x'`, [new Date().toISOString()]);
  for (const [id, status] of [
    ['task_open', 'in_review'],
    ['task_done', 'done'],
  ]) {
    await sql(`insert into tasks (id, project_id, title, status) values ($1, $2, 'x', $3)`, [id, project, status]);
    await sql(
      `insert into diffs (task_id, branch_name, base_branch, head_sha, files, at)
       values ($1, 'b', 'main', 'x', '[]', now() - interval '91 days')`,
      [id],
    );
  }
  await removeOld(service.app);
  expect(await keys()).toEqual(['days 89']);
  expect(await sql(`select id from reconciliations where id like 'recon_4%'`)).toEqual([{ id: 'recon_47' }]);
  expect(await sql(`select task_id from diffs where task_id in ('task_open', 'task_done')`)).toEqual([
    { task_id: 'task_open' },
  ]);
});

test('figures of agents are kept', async () => {
  const figures = () =>
    sql('select f::text from agent_figures f union all select d::text from agent_days d order by 1');
  await sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, created_at, started_at, finished_at)
     select 'run_old', $1, $2, id, 'start', 'failed', now() - interval '4 years', now() - interval '4 years', now() - interval '4 years'
     from agents where project_id = $2 limit 1`,
    [task, project],
  );
  const before = await figures();
  expect(before).toHaveLength(4);
  await removeOld(service.app);
  expect(await figures()).toEqual(before);
});

test('logs and conversations are removed after their days, those of a live run never', async () => {
  await sql('delete from runs');
  for (const [id, status, finished] of [
    ['run_live', 'running', null],
    ['run_ended', 'failed', `now() - interval '30.5 days'`],
    ['run_recent', 'failed', `now() - interval '29.5 days'`],
  ] as const) {
    await sql(
      `insert into runs (id, task_id, project_id, kind, status, finished_at) values ($1, $2, $3, 'start', $4, ${finished})`,
      [id, task, project, status],
    );
    await sql(
      `insert into run_turns (run_id, turn, messages, at)
       select $1, n, '[]', now() - (32.5 - n) * interval '1 day' from generate_series(0, 2) n`,
      [id],
    );
    await sql(`insert into run_contexts (run_id, opening) values ($1, '[]')`, [id]);
    // The whole conversation of a run is kept until days after its end.
    await sql(
      `insert into run_events (run_id, type, text, at)
       select $1, 'tool', 'step ' || n, now() - (90.5 - n) * interval '1 day' from generate_series(0, 2) n`,
      [id],
    );
  }
  await removeOld(service.app);
  const turns = await sql('select run_id, turn from run_turns order by run_id, turn');
  expect(turns.map((row: { run_id: string; turn: number }) => `${row.run_id} ${row.turn}`)).toEqual([
    'run_live 0',
    'run_live 1',
    'run_live 2',
    'run_recent 0',
    'run_recent 1',
    'run_recent 2',
  ]);
  const contexts = await sql('select run_id as id from run_contexts order by run_id');
  expect(contexts).toEqual([{ id: 'run_live' }, { id: 'run_recent' }]);
  const log = async (id: string) =>
    (await service.call('GET', `/runs/${id}/events`, { token })).body.map((e: { text: string }) => e.text);
  expect(await log('run_ended')).toEqual(['step 1', 'step 2']);
  expect(await log('run_live')).toEqual(['step 0', 'step 1', 'step 2']);
});

test('events of a project are kept for two hours, twice as long as a client may resume', async () => {
  await sql('delete from project_events');
  await sql(
    `insert into project_events (project_id, kind, object_id, status, at)
     select $1, 'task', n::text, 'ready', now() - n * interval '1 minute' from unnest(array[119, 121]) n`,
    [project],
  );
  await removeOld(service.app);
  expect(await sql('select object_id from project_events')).toEqual([{ object_id: '119' }]);
});

test('sessions are removed a day after they end, and tokens never', async () => {
  await sql(
    `insert into api_tokens (id, user_id, name, prefix, expires_at, is_session)
     select 'tok_' || n || is_session, u.id, 'session', 'p', now() - n * interval '1 hour', is_session
     from (select id from users order by id limit 1) u, unnest(array[-1, 23, 25]) n, unnest(array[true, false]) is_session`,
  );
  await removeOld(service.app);
  const left = await sql(`select id from api_tokens where name = 'session' and prefix = 'p' order by id`);
  expect(left.map(({ id }: { id: string }) => id)).toEqual([
    'tok_-1false',
    'tok_-1true',
    'tok_23false',
    'tok_23true',
    'tok_25false',
  ]);
});

test('sign-ins that can no longer be finished, expired idempotency keys and old paces of tokens are removed', async () => {
  await sql(
    `insert into sign_ins (state_digest, browser_digest, verifier, return_to, created_at)
     select 'state ' || n, 'browser', 'verifier', '/', now() - n * interval '1 minute' from unnest(array[59, 61]) n`,
  );
  await sql(
    `insert into idempotency_keys (user_id, request, key, digest, created_at)
     select u.id, 'POST /projects', 'hours ' || n, 'digest', now() - n * interval '1 hour'
     from (select id from users order by id limit 1) u, unnest(array[23, 25]) n`,
  );
  await sql(
    `insert into github_pace (installation_id, next_write_at, parked_until)
     select -n, now() - n * interval '1 hour', now() + (24 - n) * interval '1 hour' from unnest(array[23, 25, 49]) n`,
  );
  await removeOld(service.app);
  expect(await sql('select installation_id::int as id from github_pace order by id')).toEqual([
    { id: -25 },
    { id: -23 },
  ]);
  expect(await sql('select state_digest from sign_ins')).toEqual([{ state_digest: 'state 59' }]);
  expect(await sql(`select key from idempotency_keys where key like 'hours %'`)).toEqual([{ key: 'hours 23' }]);
});

test('records of the audit log are removed after their days, and in no other way', async () => {
  await sql(
    `insert into audit_records (id, at, via, action, object_type, object_id)
     select 'audit_' || n, now() - n * interval '1 hour', 'system', 'task.start', 'task', 'task_1'
     from unnest(array[23, 25, 399 * 24, 401 * 24]) n`,
  );
  await removeOld(service.app);
  const left = async () =>
    (await sql(`select id from audit_records where object_id = 'task_1' order by at`)).map(
      (row: { id: string }) => row.id,
    );
  expect(await left()).toEqual(['audit_9576', 'audit_25', 'audit_23']);
  for (const statement of [
    `update audit_records set action = 'task.cancel'`,
    'delete from audit_records',
    'truncate audit_records',
    `set local deckhand.audit_retention = 'on'; delete from audit_records where id = 'audit_23'`,
  ])
    await expect(service.app.db.transaction((em) => em.query(statement))).rejects.toThrow('append-only');
  expect(await left()).toHaveLength(3);
  await removeOld({ ...service.app, config: { ...service.app.config, AUDIT_DAYS: 0 } });
  expect(await left()).toHaveLength(3);
  await removeOld({ ...service.app, config: { ...service.app.config, AUDIT_DAYS: 1 } });
  expect(await left()).toEqual(['audit_23']);
});

test('0 days keep rows forever', async () => {
  await sql(`update deliveries set received_at = now() - interval '9000 days'`);
  await sql(`update run_turns set at = now() - interval '9000 days'`);
  await sql(`update run_events set at = now() - interval '9000 days'`);
  const count = async () =>
    (
      await sql(
        'select (select count(*) from deliveries) + (select count(*) from run_turns) + (select count(*) from run_events) as n',
      )
    )[0].n;
  const before = await count();
  const config = { ...service.app.config, KEEP_DELIVERIES: 0, KEEP_RUN_EVENTS: 0, KEEP_TURNS: 0 };
  await removeOld({ ...service.app, config });
  expect(await count()).toBe(before);
  await removeOld(service.app);
  expect(await count()).not.toBe(before);
});

test('by default deliveries and conversations are kept for 30 days, logs for 90, the audit log for 400', () => {
  const { KEEP_DELIVERIES, KEEP_RUN_EVENTS, KEEP_TURNS, AUDIT_DAYS } = readConfig({});
  expect([KEEP_DELIVERIES, KEEP_RUN_EVENTS, KEEP_TURNS, AUDIT_DAYS]).toEqual([30, 90, 30, 400]);
});

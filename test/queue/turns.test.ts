import { PgBoss } from 'pg-boss';
import type { EntityManager } from 'typeorm';
import { PooledClient } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { jobs, tenantOf } from '../../src/jobs.ts';
import { openQueue } from '../../src/queue/queue.ts';
import { giveTurns, turnsOfDue } from '../../src/queue/turns.ts';
import { rowsRead } from '../db/count-rows.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const db = await openDatabase(database.url, [], { poolSize: 2 });
const queue = await openQueue(database.url, jobs, {
  isWorker: false,
  tenantOf,
  Client: PooledClient,
  onError: () => {},
});
/** Claims jobs one at a time, as the workers of the queue do. */
const worker = new PgBoss({ connectionString: database.url, supervise: false, schedule: false });
await worker.start();
afterAll(async () => {
  await worker.stop({ graceful: false });
  await queue.stop(1000);
  await db.close();
  await database.drop();
});

async function claimOne(): Promise<string | undefined> {
  const [job] = await worker.fetch<{ guid: string }>('delivery');
  if (job !== undefined) await worker.complete('delivery', job.id);
  return job?.data.guid;
}

async function claimAll(): Promise<string[]> {
  const guids = [];
  for (let guid = await claimOne(); guid !== undefined; guid = await claimOne()) guids.push(guid);
  return guids;
}

const send = (account: string, n: number) => queue.send(undefined, 'delivery', { account, guid: `${account} ${n}` });

test('tenants take turns, and the jobs of one are claimed in their order', async () => {
  for (let i = 0; i < 30; i++) await send('noisy', i);
  for (let i = 0; i < 30; i++) await send('other', i);
  await send('quiet', 0);
  const guids = await claimAll();
  const of = (account: string) => guids.filter((guid) => guid.startsWith(account));
  expect(guids.indexOf('quiet 0')).toBeLessThan(3);
  expect(guids.slice(0, 20).filter((guid) => guid.startsWith('noisy')).length).toBeLessThan(12);
  for (const account of ['noisy', 'other'])
    expect(of(account)).toEqual(Array.from({ length: 30 }, (_, i) => `${account} ${i}`));
});

test('jobs that are sent at the same time get turns of their own, too', async () => {
  await Promise.all(Array.from({ length: 30 }, (_, i) => send('burst', i)));
  await send('quiet', 0);
  expect((await claimAll()).indexOf('quiet 0')).toBeLessThan(3);
});

test('a job of a transaction that is not committed yet counts, too', async () => {
  await db.transaction(async (em) => {
    await queue.send(em, 'delivery', { account: 'open', guid: 'open 0' });
    await send('open', 1);
  });
  const [turns] = await db.manager.query(
    `select count(distinct priority)::int as different from pgboss.job where group_id = 'open'`,
  );
  expect(turns).toEqual({ different: 2 });
  await claimAll();
});

test('a tenant does not wait behind its jobs that are done', async () => {
  for (let i = 0; i < 20; i++) {
    await send('steady', i);
    await claimOne();
  }
  for (let i = 0; i < 20; i++) await send('crowd', i);
  await send('steady', 20);
  expect((await claimAll()).indexOf('steady 20')).toBeLessThan(3);
});

test('a new tenant comes after the jobs whose turn it is, so that it does not hold up those that waited', async () => {
  for (let i = 0; i < 5; i++) await send('noisy', i);
  for (let i = 0; i < 3; i++) await claimOne();
  for (let i = 0; i < 2; i++) await send('new', i);
  expect(await claimAll()).toEqual(['noisy 3', 'new 0', 'noisy 4', 'new 1']);
});

test('jobs for later that come due at once take turns with those of others', async () => {
  await db.manager.query(`insert into projects (id, name, slug) values ('busy', 'b', 'b'), ('calm', 'c', 'c')`);
  await db.manager.query(`insert into tasks (id, project_id, title, status)
    select p || n, p, 't', 'ready' from unnest(array['busy', 'calm']) p, generate_series(1, 20) n`);
  const show = (taskId: string, more = {}) =>
    queue.send(undefined, 'mirror', { taskId, recheck: false }, { key: taskId, ...more });
  for (let i = 20; i >= 1; i--) await show(`busy${i}`, { afterSeconds: 3600 });
  // Until they are due, they do not hold up the tenant's own jobs.
  await show('busy1', { key: 'now' });
  await db.manager.query(`update pgboss.job set start_after = now() - interval '1 second' where name = 'mirror'`);
  await giveTurns(worker.getDb());
  await show('calm1');
  const order = [];
  for (let [job] = await worker.fetch<{ taskId: string }>('mirror'); job; [job] = await worker.fetch('mirror')) {
    order.push(job.data.taskId);
    await worker.complete('mirror', job.id);
  }
  expect(order).toHaveLength(22);
  expect(order.indexOf('busy1')).toBeLessThan(3);
  expect(order.filter((id) => id === 'busy1')).toHaveLength(2);
  expect(order.indexOf('calm1')).toBeLessThan(4);
});

/** Claims a job of an account that is alone in the queue, and fails it. */
async function failOne(account: string): Promise<void> {
  const [job] = await worker.fetch<{ account: string }>('delivery');
  expect(job?.data.account).toBe(account);
  await worker.fail('delivery', job?.id ?? '', {});
}
/** Ends the pauses before retries. */
async function endPauses(): Promise<void> {
  await db.manager.query(`update pgboss.job set start_after = now() where state = 'retry'`);
  await giveTurns(worker.getDb());
}

test('a tenant whose jobs fail again and again takes no more turns than others', async () => {
  for (let i = 0; i < 10; i++) await send('failing', i);
  for (let i = 0; i < 10; i++) await send('steady', i);
  const order: string[] = [];
  for (let steady = 0; steady < 10; ) {
    const [job] = await worker.fetch<{ account: string }>('delivery');
    if (job === undefined) throw new Error('the queue is empty');
    order.push(job.data.account);
    if (job.data.account === 'steady') {
      steady += 1;
      await worker.complete('delivery', job.id);
    } else {
      await worker.fail('delivery', job.id, {});
      await endPauses();
    }
  }
  expect(order.length).toBeLessThan(23);
  await claimAll();
});

test('a retry comes after what others sent in the meantime, also if each of them has one job only', async () => {
  await send('failing', 0);
  await failOne('failing');
  await send('quiet', 0);
  await endPauses();
  expect(await claimAll()).toEqual(['quiet 0', 'failing 0']);
});

test('a retry is not held up by tenants that always have another job', async () => {
  await send('failing', 0);
  await failOne('failing');
  for (const account of ['one', 'two']) await send(account, 0);
  await endPauses();
  const order: string[] = [];
  for (let n = 1; n <= 10; n++) {
    const guid = (await claimOne()) ?? '';
    order.push(guid);
    await send(guid.split(' ')[0] ?? '', n);
  }
  expect(order.indexOf('failing 0')).toBe(2);
  await claimAll();
});

test('retries whose pauses end at once do not go ahead of all that were sent in between', async () => {
  for (let i = 0; i < 10; i++) await send('failing', i);
  for (let i = 0; i < 10; i++) await failOne('failing');
  for (let i = 0; i < 30; i++) await send('steady', i);
  for (let i = 0; i < 10; i++) expect(await claimOne()).toBe(`steady ${i}`);
  await endPauses();
  await send('quiet', 0);
  const guids = await claimAll();
  expect(guids.slice(0, 10).filter((guid) => guid.startsWith('failing')).length).toBeLessThan(6);
  expect(guids.slice(0, 6).some((guid) => guid.startsWith('failing'))).toBe(true);
  expect(guids.indexOf('quiet 0')).toBeLessThan(4);
  expect(guids).toHaveLength(31);
});

test('a job whose worker was killed gets a new turn, too', async () => {
  for (let i = 0; i < 3; i++) await send('killed', i);
  for (let i = 0; i < 3; i++) await worker.fetch('delivery');
  for (let i = 0; i < 7; i++) await send('steady', i);
  for (let i = 0; i < 3; i++) await claimOne();
  await db.manager.query(`update pgboss.job set heartbeat_on = now() - interval '1 minute' where state = 'active'`);
  await worker.supervise('delivery');
  await endPauses();
  const guids = await claimAll();
  expect(guids).toHaveLength(7);
  expect(guids.slice(0, 3).filter((guid) => guid.startsWith('killed')).length).toBeLessThan(3);
});

test('a job that is due but has no turn yet is claimed, after all others', async () => {
  await send('failing', 0);
  await failOne('failing');
  await db.manager.query(`update pgboss.job set start_after = now() where state = 'retry'`);
  for (let i = 0; i < 2; i++) await send('steady', i);
  expect(await claimAll()).toEqual(['steady 0', 'steady 1', 'failing 0']);
});

test('a job that a transaction has requested again gets its turn, but is not claimed before the commit', async () => {
  await db.manager.query(`insert into tasks (id, project_id, title, status) values ('asked', 'busy', 't', 'ready')`);
  const ask = (em: EntityManager, more = {}) =>
    queue.send(em, 'continue', { taskId: 'asked' }, { key: 'asked', ...more });
  await ask(db.manager, { afterSeconds: 3600 });
  await db.manager.query(`update pgboss.job set start_after = now() where name = 'continue'`);
  await db.transaction(async (em) => {
    await ask(em);
    await giveTurns(worker.getDb());
    const [given] = await db.manager.query(`select priority from pgboss.job where name = 'continue'`);
    expect(given).toEqual({ priority: 0 });
    expect(await worker.fetch('continue')).toEqual([]);
  });
  expect(await worker.fetch('continue')).toHaveLength(1);
});

test('processes that give turns at the same time give each job one turn of its own', async () => {
  await db.manager.query(
    `insert into pgboss.job (name, policy, state, group_id) select 'tidy', 'standard', 'retry', 'failing' from generate_series(1, 2500)`,
  );
  for (let i = 0; i < 3; i++) await Promise.all(Array.from({ length: 4 }, () => giveTurns(worker.getDb())));
  const [turns] = await db.manager.query(
    `select count(*)::int as given, count(distinct priority)::int as different from pgboss.job
     where name = 'tidy' and priority > -1000000`,
  );
  expect(turns).toEqual({ given: 2500, different: 2500 });
});

test('to find its turn, a job reads as little behind 10,000 waiting jobs of its tenant', async () => {
  await db.manager.query(
    `insert into pgboss.job (name, policy, group_id, priority)
     select 'prd', 'standard', case when n % 2 = 0 then 'noisy' else 'other' end, -n / 2 from generate_series(1, 10000) n`,
  );
  await db.manager.query('analyze pgboss.job_common');
  // The explained statement returns no turn, so sending fails.
  const ask = (em: EntityManager) => queue.send(em, 'prd', { projectId: 'noisy', sessionId: 's' }).catch(() => {});
  expect((await rowsRead(db.manager, ask)).job_common).toBeLessThan(10);
});

test('to give turns, the queue reads only the jobs that are due, behind 10,000 that are not', async () => {
  await db.manager.query(
    `insert into pgboss.job (name, policy, state, group_id, priority, start_after)
     select 'plan', 'standard', 'retry', 'noisy', 0, now() + interval '1 minute' * sign(n - 3) from generate_series(1, 10000) n`,
  );
  await db.manager.query('analyze pgboss.job_common');
  expect((await rowsRead(db.manager, (em) => em.query(turnsOfDue))).job_common).toBeLessThan(40);
});

/** Does what pg-boss does with a job that it has claimed beyond the slots of its tenant. */
const restore = (job: { id: string } | undefined) =>
  db.manager.query(`update pgboss.job set state = 'created', started_on = null, heartbeat_on = null where id = $1`, [
    job?.id,
  ]);

test('a job that goes back to the queue is done if another one with its key waits by now', async () => {
  const sendTask = () => queue.send(undefined, 'mirror', { taskId: 'task_1', recheck: false }, { key: 'task_1' });
  await sendTask();
  const [claimed] = await worker.fetch('mirror');
  await sendTask();
  await restore(claimed);
  const states = await db.manager.query(`select state::text from pgboss.job where singleton_key = 'task_1' order by 1`);
  expect(states).toEqual([{ state: 'completed' }, { state: 'created' }]);
  // Without another one, it waits again.
  const [other] = await worker.fetch('mirror');
  await restore(other);
  expect((await worker.fetch('mirror')).map(({ id }) => id)).toEqual([other?.id]);
});

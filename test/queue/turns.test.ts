import { PgBoss } from 'pg-boss';
import type { EntityManager } from 'typeorm';
import { PooledClient } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { jobs, tenantOf } from '../../src/jobs.ts';
import { openQueue } from '../../src/queue/queue.ts';
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

test('the tenant of a job is the project of its task, repository, sprint or trial', async () => {
  await db.manager.query(`insert into projects (id, name, slug) values ('proj', 'p', 'p')`);
  await db.manager.query(`insert into tasks (id, project_id, title, status) values ('task', 'proj', 't', 'ready')`);
  await queue.send(db.manager, 'continue', { taskId: 'task' }, { key: 'task' });
  await queue.send(db.manager, 'suggestions', { agentId: 'a', userId: 'mona' });
  await queue.send(db.manager, 'sweep', {}, { key: 'sweep' });
  const rows: { name: string; tenant: string }[] = await db.manager.query(
    `select name, group_id as tenant from pgboss.job where name in ('continue', 'suggestions', 'sweep') order by name`,
  );
  expect(rows.map(({ tenant }) => tenant)).toEqual(['proj', 'mona', 'none']);
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

import { createHmac } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import { requeueForgotten } from '../../../src/github/inbox/receive.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { privateKey } from '../../support/github-app.ts';

const secret = 'a secret of this test';
let service: TestApp;
let worker: PgBoss;
beforeAll(async () => {
  service = await openTestApp({ APP_ID: '1', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: secret });
  worker = new PgBoss({ connectionString: service.app.config.DATABASE_URL ?? '', supervise: false, schedule: false });
  await worker.start();
});
afterAll(async () => {
  await worker.stop({ graceful: false });
  await service.close();
});
beforeEach(() => sql('truncate deliveries, pgboss.job'));

const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);
/** Stores deliveries that came some minutes ago and whose jobs are lost, the first one first. */
const forget = (account: string | null, count: number, minutes: number) =>
  sql(
    `insert into deliveries (guid, event, signature, payload, account, received_at)
     select coalesce($1, 'nobody') || ' ' || n, 'ping', '', '{}', $1, now() - interval '1 minute' * $3 + interval '1 ms' * n
     from generate_series(1, $2::int) n`,
    [account, count, minutes],
  );
const jobsOf = (account: string): Promise<{ guid: string; key: string; tenant: string; state: string }[]> =>
  sql(
    `select data->>'guid' as guid, singleton_key as key, group_id as tenant, state from pgboss.job
     where name = 'delivery' and data->>'guid' like $1 || ' %'`,
    [account],
  );
const fetchOne = async () => (await worker.fetch<{ guid: string; account: string }>('delivery'))[0];

test('an arriving delivery is stored with its account', async () => {
  for (const [guid, body] of [
    ['with', '{"installation":{"id":77}}'],
    ['without', '{}'],
  ] as const) {
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const response = await fetch(`${service.url}/api/github/webhooks`, {
      method: 'POST',
      body,
      headers: { 'X-GitHub-Event': 'ping', 'X-GitHub-Delivery': guid, 'X-Hub-Signature-256': `sha256=${signature}` },
    });
    expect(response.status).toBe(202);
  }
  expect(await sql('select guid, account from deliveries order by guid')).toEqual([
    { guid: 'with', account: '77' },
    { guid: 'without', account: null },
  ]);
});

test('beside thousands of forgotten deliveries of one tenant, that of a quiet one is the second to be handled', async () => {
  await forget('noisy', 3000, 60);
  await forget('quiet', 1, 20);
  await requeueForgotten(service.app);
  const noisy = await jobsOf('noisy');
  expect(new Set(noisy.map(({ tenant }) => tenant))).toEqual(new Set(['noisy']));
  expect(noisy.map(({ guid }) => Number(guid.split(' ')[1])).sort((a, b) => a - b)).toEqual(
    Array.from(noisy, (_, i) => i + 1),
  );
  const first = [await fetchOne(), await fetchOne()].map((job) => job?.data);
  expect(first).toContainEqual({ guid: 'quiet 1', account: 'quiet' });
});

test('a delivery whose job waits, is running or will be retried gets no second one; the next ones get theirs', async () => {
  await forget('noisy', 1200, 60);
  await requeueForgotten(service.app);
  const queued = (await jobsOf('noisy')).length;
  await fetchOne();
  await worker.fail('delivery', (await fetchOne())?.id ?? '', {});
  await Promise.all([requeueForgotten(service.app), requeueForgotten(service.app)]);
  await requeueForgotten(service.app);
  const jobs = await jobsOf('noisy');
  expect(queued).toBeLessThan(1200);
  expect(jobs).toHaveLength(1200);
  expect(new Set(jobs.map(({ guid }) => guid)).size).toBe(1200);
  const count = (state: string) => jobs.filter((job) => job.state === state).length;
  expect([count('active'), count('retry'), count('created')]).toEqual([1, 1, 1198]);
});

test('a delivery whose job has failed for good, or is done without effect, gets another one', async () => {
  await forget('noisy', 2, 60);
  await requeueForgotten(service.app);
  await worker.complete('delivery', (await fetchOne())?.id ?? '');
  await sql(`update pgboss.job set retry_limit = 0 where state = 'created'`);
  await worker.fail('delivery', (await fetchOne())?.id ?? '', {});
  await requeueForgotten(service.app);
  expect((await jobsOf('noisy')).map(({ state }) => state).sort()).toEqual([
    'completed',
    'created',
    'created',
    'failed',
  ]);
});

test('deliveries without an installation, those of the last minutes and those that are handled', async () => {
  await forget(null, 2, 60);
  await forget('new', 2, 5);
  await forget('done', 2, 60);
  await sql(`update deliveries set handled_at = now() where account = 'done'`);
  await requeueForgotten(service.app);
  const left = [await jobsOf('nobody'), await jobsOf('new'), await jobsOf('done')];
  expect(left.map((jobs) => jobs.map(({ tenant }) => tenant))).toEqual([['none', 'none'], [], []]);
});

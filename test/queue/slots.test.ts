import { until } from '../../demo/real-service.ts';
import type { App } from '../../src/app.ts';
import { PooledClient } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { jobs, tenantOf, workersOf } from '../../src/jobs.ts';
import type { Workers } from '../../src/queue/names.ts';
import { openQueue } from '../../src/queue/queue.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const db = await openDatabase(database.url, [], { poolSize: 2 });
const queue = await openQueue(database.url, jobs, {
  isWorker: true,
  tenantOf,
  Client: PooledClient,
  onError: () => {},
});
let answer = () => {};
const silence = new Promise<void>((resolve) => {
  answer = resolve;
});
afterAll(async () => {
  answer();
  await queue.stop(1000);
  await db.close();
  await database.drop();
});

test('an installation that does not answer holds at most half of the slots for deliveries', async () => {
  const { delivery } = workersOf({ config: { MAX_CONCURRENT_RUNS: 1 } } as App);
  const most = Math.ceil(delivery.concurrency / 2);
  const [held, handled] = [new Set<string>(), new Set<string>()];
  const handle = async ({ guid, account }: { guid: string; account?: string | undefined }) => {
    if (account === 'silent') {
      held.add(guid);
      await silence;
    }
    handled.add(guid);
  };
  const send = async (account: string, count: number) => {
    for (let i = 0; i < count; i++) await queue.send(undefined, 'delivery', { account, guid: `${account} ${i}` });
  };
  await send('silent', 20);
  await queue.work({ delivery: { ...delivery, handle } } as Workers);
  await until('the slots of the silent one', async () => held.size === most);
  await send('healthy', 20);
  await until('the deliveries of the healthy one', async () => handled.size === 20);
  expect(held.size).toBe(most);
  answer();
  await until('the rest', async () => handled.size === 40);
});

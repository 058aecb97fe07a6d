import type { ClientConfig } from 'pg';
import { until } from '../../demo/real-service.ts';
import { PooledClient } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { jobs, tenantOf } from '../../src/jobs.ts';
import type { Workers } from '../../src/queue/names.ts';
import { openQueue } from '../../src/queue/queue.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const db = await openDatabase(database.url, [], { poolSize: 4 });

const clients: PooledClient[] = [];
class NotedClient extends PooledClient {
  constructor(config?: ClientConfig) {
    super(config);
    clients.push(this);
  }
}
const queue = await openQueue(database.url, jobs, {
  isWorker: true,
  tenantOf,
  Client: NotedClient,
  onError: () => {},
  ambient: db.ambient,
});
afterAll(async () => {
  await queue.stop(1000);
  await db.close();
  await database.drop();
});

test('the pool consists of the clients that it was given, which survive an error while they are in use', () => {
  expect(clients.length).toBeGreaterThan(0);
  for (const client of clients) expect(() => client.emit('error', new Error('the server died'))).not.toThrow();
});

test('a queue that an earlier version created gets the options of this one', async () => {
  const options = { isWorker: false, tenantOf, Client: NotedClient, onError: () => {} };
  const retriesOf = async () => {
    const rows: { retries: number }[] = await db.manager.query(
      `select retry_limit as retries from pgboss.queue where name = 'prd'`,
    );
    return rows[0]?.retries;
  };
  for (const retries of [1, jobs.prd.retries]) {
    const other = await openQueue(database.url, { ...jobs, prd: { ...jobs.prd, retries } }, options);
    await other.stop(1000);
    expect(await retriesOf()).toBe(retries);
  }
});

test('with unlessWaiting no job is added if one is waiting', async () => {
  const waiting = async () =>
    (await db.manager.query(`select 1 from pgboss.job where name = 'run' and state = 'created'`)).length;
  await queue.send(db.manager, 'run', {}, { afterSeconds: 3600 });
  for (let i = 0; i < 3; i++) await queue.send(db.manager, 'run', {}, { unlessWaiting: true });
  expect(await waiting()).toBe(2);
});

// Before the first queue has workers, which would take the jobs.
test('stopping waits for the job under way, but not for one that takes too long', async () => {
  const stopped = async (takes: Promise<void>, timeoutMs: number) => {
    const ending = await openQueue(database.url, jobs, {
      isWorker: true,
      tenantOf,
      Client: NotedClient,
      onError: () => {},
      ambient: db.ambient,
    });
    let [state, begun] = ['waiting', () => {}];
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const handle = async () => {
      state = 'under way';
      begun();
      await takes;
      state = 'done';
    };
    await ending.work({ prd: { concurrency: 1, handle } } as unknown as Workers);
    await ending.send(db.manager, 'prd', { sessionId: 'x' } as never);
    await hasBegun;
    const stopping = ending.stop(timeoutMs);
    return { stopping, state: () => state };
  };
  let finish = () => {};
  const short = await stopped(new Promise((resolve) => (finish = resolve)), 60_000);
  expect(short.state()).toBe('under way');
  finish();
  await short.stopping;
  expect(short.state()).toBe('done');
  const endless = await stopped(new Promise(() => {}), 1);
  await endless.stopping;
  expect(endless.state()).toBe('under way');
});

test('a waiting job that a transaction requests again is not claimed before the commit', async () => {
  const taken: string[] = [];
  const idle = { concurrency: 1, handle: async () => {} };
  const workers = Object.fromEntries(Object.keys(jobs).map((name) => [name, idle])) as unknown as Workers;
  workers.mirror = {
    concurrency: 1,
    handle: async ({ taskId }) => {
      taken.push(taskId);
    },
  };
  const ask = (taskId: string, em = db.manager) =>
    queue.send(em, 'mirror', { taskId, recheck: false }, { key: taskId });
  await ask('one');
  await db.transaction(async (em) => {
    await ask('one', em);
    await queue.work(workers);
    // Other transactions can request the same job, or another one, without waiting.
    await db.transaction((other) => ask('one', other));
    await ask('another');
    await until('another job', async () => taken.includes('another'));
    expect(taken).toEqual(['another']);
  });
  await until('the one job', async () => taken.includes('one'));
});

test('a job sent inside an ambient transaction exists after its commit', async () => {
  const waiting = async () =>
    (await db.manager.query(`select 1 from pgboss.job where name = 'cancel' and state = 'created'`)).length;
  const ask = () => queue.send(undefined, 'cancel', { taskId: 't', runId: 'r' }, { afterSeconds: 600 });
  const failed = db.together('start', async () => {
    await ask();
    throw new Error('on the way');
  });
  await expect(failed).rejects.toThrow('on the way');
  expect(await waiting()).toBe(0);
  await db.together('start', ask);
  expect(await waiting()).toBe(1);
});

test('a delayed job is handled when it is due, while workers without jobs do not look for any', async () => {
  const own = await createTestDatabase();
  const fetched = new Map<string, number>();
  class CountingClient extends PooledClient {
    override query(...given: unknown[]) {
      const [first] = given as [{ text?: string } | string];
      const text = typeof first === 'string' ? first : (first.text ?? '');
      const [, name] = /^\s*with\s+next\s.*?\sj\.name\s*=\s*'(\w+)'/is.exec(text) ?? [];
      if (name !== undefined) fetched.set(name, (fetched.get(name) ?? 0) + 1);
      return (super.query as (...args: unknown[]) => never)(...given);
    }
  }
  const other = await openQueue(own.url, jobs, { isWorker: true, tenantOf, Client: CountingClient, onError: () => {} });
  try {
    const handled = Promise.withResolvers<void>();
    const idle = { concurrency: 1, handle: async () => {} };
    const tidy = { concurrency: 1, handle: async () => handled.resolve() };
    await other.work({ milestones: idle, tidy } as unknown as Workers);
    await other.send(undefined, 'tidy', { taskId: 'delayed', repositoryId: 'r', number: 1 }, { afterSeconds: 5 });
    await handled.promise;
    expect([...fetched]).toEqual([
      ['milestones', 1],
      ['tidy', expect.any(Number)],
    ]);
    expect(fetched.get('tidy')).toBeGreaterThan(1);
  } finally {
    await other.stop(1000);
    await own.drop();
  }
});

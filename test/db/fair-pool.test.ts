import { openDatabase } from '../../src/db/database.ts';
import { Shares } from '../../src/db/fair-pool.ts';
import { currentTenant, forPerson } from '../../src/threads/tenant.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();
const db = await openDatabase(database.url, [], { poolSize: 8, tenant: currentTenant });
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** Begins transactions of a person that last until the returned function is called. */
function hold(person: string, count: number): { begun: () => number; end(): Promise<unknown> } {
  let begun = 0;
  const ends: (() => void)[] = [];
  const all = Array.from({ length: count }, () => {
    const ended = new Promise<void>((resolve) => ends.push(resolve));
    return forPerson(person, () =>
      db.transaction(async (em) => {
        await em.query('select 1');
        begun += 1;
        await ended;
      }),
    );
  });
  return {
    begun: () => begun,
    end: () => {
      for (const end of ends) end();
      return Promise.all(all);
    },
  };
}

const asked = (person: string) => forPerson(person, () => db.manager.query('select 1'));

test('slow requests of one person leave connections to others, to each a few', async () => {
  const slow = hold('ann', 20);
  // Each of them waits for its turn if all that ann may have are taken.
  for (const person of ['bob', 'cleo', 'dan']) await asked(person);
  await db.manager.query('select 1');
  expect(slow.begun()).toBeLessThanOrEqual(6);
  const few = hold('bob', 2);
  // The connections that are kept for people with few are in use now. The next one goes to cleo, who asked last and has none.
  const more = hold('bob', 3);
  const first = Promise.race([asked('cleo').then(() => 'cleo'), slow.end().then(() => 'ann')]);
  await Promise.all([few.end(), more.end()]);
  expect(await first).toBe('cleo');
});

test('a connection that broke is lent again, and so is one that a failed statement used', async () => {
  for (let i = 0; i < 20; i += 1) {
    await expect(
      forPerson('ann', () => db.transaction((em) => em.query('select pg_terminate_backend(pg_backend_pid())'))),
    ).rejects.toThrow();
    await expect(forPerson('ann', () => db.manager.query('select 1 / 0'))).rejects.toThrow('division by zero');
  }
  const all = ['ann', 'bob', 'cleo', 'dan'].map((person) => hold(person, 2));
  await Promise.all(all.map(({ end }) => end()));
  expect(all.map(({ begun }) => begun())).toEqual([2, 2, 2, 2]);
});

test('who waits too long gets an error and no turn, and work for nobody in particular goes first', async () => {
  const shares = new Shares(4, 30);
  const order: string[] = [];
  const ask = (tenant: string | undefined) =>
    new Promise<() => void>((resolve, reject) =>
      shares.ask(
        tenant,
        (giveBack) => {
          order.push(tenant ?? 'nobody');
          resolve(giveBack);
        },
        reject,
      ),
    );
  const lent = [await ask('ann'), await ask('ann'), await ask('ann')];
  // Ann has three of four, and the last one is kept.
  await expect(ask('ann')).rejects.toThrow('timeout exceeded when trying to connect');
  expect(shares.waiting).toBe(0);
  lent.push(await ask('bob'));
  order.length = 0;
  const waiting = [ask('ann'), ask('bob'), ask('cleo'), ask(undefined)];
  for (const giveBack of lent) giveBack();
  await Promise.all(waiting);
  expect(order).toEqual(['nobody', 'cleo', 'ann', 'bob']);
});

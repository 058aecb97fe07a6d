import type { Request } from 'express';
import { migrations } from '../../../migrations/list.ts';
import type { App } from '../../../src/app.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { openPresence } from '../../../src/db/presence.ts';
import { AppError } from '../../../src/errors.ts';
import type { EventStream } from '../../../src/http/events.ts';
import { type Attempt, answerOnce, type asOne, streamOnce, takeKey } from '../../../src/http/idempotency.ts';
import type { Route } from '../../../src/http/route.ts';
import { createTestDatabase } from '../../support/database.ts';

let db: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  db = await openDatabase(database.url, migrations, { poolSize: 3 });
  await db.manager.query(`insert into users (id, login) values ('mona', 'mona'), ('hubot', 'hubot')`);
});
afterAll(async () => {
  await db.close();
  await drop();
});

type Input = Parameters<typeof asOne>[2] & { n: number };
const write = { audit: { action: 'project.update' } } as unknown as Route;
const app = () => ({ db }) as App;
const take = (key: string, body: unknown = {}, user = 'mona', path = '/things') =>
  takeKey(db, { method: 'POST', headers: { 'idempotency-key': key }, body } as unknown as Request, user, path);
const claim = async (key: string) => (await take(key)) as Attempt;
const lost = () => Object.assign(new Error('deadlock'), { code: '40P01' });
const underWay = { status: 409, message: expect.stringContaining('still under way') };

/** Runs an operation that loses its race some times, then replies 201. Returns what each try was given. */
async function answer(races: number, { error = lost, attempt }: { error?: () => Error; attempt?: Attempt } = {}) {
  const given: number[] = [];
  const act = async (input: Input) => {
    given.push(input.n);
    if (given.length <= races) throw error();
    return { status: 201, body: `"${given.length}"` };
  };
  const nth = (n: number) => ({ n }) as Input;
  const load = { first: nth(0), again: async () => nth(given.length) };
  const result = await answerOnce(app(), write, attempt, act, load).catch((failed: Error) => failed.message);
  return { given, result };
}

test('an operation that lost a race is tried three times, each time with what it loads then', async () => {
  expect(await answer(2)).toEqual({ given: [0, 1, 2], result: { status: 201, body: '"3"' } });
  expect(await answer(3)).toEqual({ given: [0, 1, 2], result: 'deadlock' });
});

test('another error is not retried', async () => {
  expect(await answer(1, { error: () => new Error('no') })).toEqual({ given: [0], result: 'no' });
});

test('the reply of the try that succeeded is stored, and a failed operation frees its key', async () => {
  await answer(1, { attempt: await claim('won') });
  expect(await take('won')).toEqual({ status: 201, body: '"2"' });
  const first = await claim('failed');
  expect(first.isAgain).toBe(false);
  await answer(9, { attempt: first, error: () => new Error('no') });
  expect(await claim('failed')).toMatchObject({ isAgain: false });
  await answer(9, { attempt: await claim('refused'), error: () => new AppError(409, 'It is done') });
  expect(await take('refused')).toMatchObject({ status: 409, body: expect.stringContaining('It is done') });
});

/** Runs a streamed operation. Returns the events that its caller receives. */
async function stream(attempt: Attempt, tell: (out: EventStream) => Promise<void>) {
  const sent: unknown[] = [];
  const out = { send: (event: unknown) => void sent.push(event) } as unknown as EventStream;
  const failure = await streamOnce(app(), { declared: write, input: {} }, attempt, out, tell).catch((error) => error);
  return { sent, failure };
}

test('a stream stores its result, and sends it last', async () => {
  const { sent } = await stream(await claim('told'), async (out) => {
    out.send({ event: 'done', data: { id: 1 } });
    out.send({ event: 'text', data: 'a' });
  });
  expect(sent).toEqual([
    { event: 'text', data: 'a' },
    { event: 'done', data: { id: 1 } },
  ]);
  expect(await take('told')).toEqual({ status: 200, body: '{"id":1}' });
});

test('a stream frees its key if it has no result or fails, and a failed one sends no result', async () => {
  expect(await stream(await claim('silent'), async (out) => out.send({ event: 'text' }))).toEqual({
    sent: [{ event: 'text' }],
    failure: undefined,
  });
  expect(await claim('silent')).toMatchObject({ isAgain: false });
  const broken = await stream(await claim('broken'), async (out) => {
    out.send({ event: 'done', data: {} });
    throw new Error('no');
  });
  expect(broken).toMatchObject({ sent: [], failure: { message: 'no' } });
  expect(await claim('broken')).toMatchObject({ isAgain: false });
});

test('a key is taken over from a process that is gone, and not from one that may be alive', async () => {
  await claim('old');
  await expect(take('old')).rejects.toMatchObject(underWay);
  // Without the name of its process, nobody can tell whether it is alive.
  await db.manager.query(`update idempotency_keys set process = null where key = 'old'`);
  await expect(take('old')).rejects.toMatchObject(underWay);
  await expect(take('old', { other: 1 })).rejects.toMatchObject({ status: 422 });
  await db.manager.query(`update idempotency_keys set process = 'gone' where key = 'old'`);
  expect(await claim('old')).toMatchObject({ isAgain: true });
});

test('only the claimed key is freed, and only its reply is stored', async () => {
  const others = [
    ['beside', 'mona', '/things'],
    ['mine', 'hubot', '/things'],
    ['mine', 'mona', '/elsewhere'],
  ] as const;
  for (const [key, user, path] of others) await take(key, {}, user, path);
  const underWayNow = async () =>
    (
      await db.manager.query(
        `select key, user_id, substr(request, 6) as path from idempotency_keys
         where key in ('beside', 'mine') and status is null order by 1, 2, 3`,
      )
    ).map(({ key, user_id, path }: Record<string, string>) => [key, user_id, path]);
  await (await claim('mine')).forget();
  expect(await underWayNow()).toEqual(others);
  await (await claim('mine')).keep({ status: 201, body: 'x' });
  expect(await underWayNow()).toEqual(others);
});

test('a key that another attempt has taken over, or whose reply is stored, is not freed', async () => {
  const earlier = await claim('over');
  await db.manager.query(`update idempotency_keys set process = 'gone' where key = 'over'`);
  const later = await claim('over');
  expect(later.isAgain).toBe(true);
  await earlier.forget();
  await later.keep({ status: 201, body: '"later"' });
  await later.forget();
  expect(await take('over')).toEqual({ status: 201, body: '"later"' });
});

test('a key that has expired is new', async () => {
  await claim('expired');
  await db.manager.query(`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'expired'`);
  expect(await claim('expired')).toMatchObject({ isAgain: false });
});

test('a presence that nobody has asked for can be closed', async () => {
  await expect(openPresence('postgres://127.0.0.1:1/none', 30).close()).resolves.toBeUndefined();
});

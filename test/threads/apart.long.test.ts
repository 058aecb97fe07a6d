import { until } from '../../demo/real-service.ts';
import { apart } from '../../src/threads/apart.ts';
import { forTenant } from '../../src/threads/tenant.ts';
import { longestBlock } from '../support/machine/processor-time.ts';
import type * as hostile from './hostile.ts';

const module = new URL('./hostile.ts', import.meta.url);
const patient = apart<typeof hostile>(module, { seconds: 20, heapMb: 40 });
/**
 * For calls that take forever: the processor time that they use up is that of all other tests, too. It does not include
 * the start of a thread, so that short calls beside them have enough of it on a busy machine.
 */
const quick = apart<typeof hostile>(module, { seconds: 0.2, heapMb: 40 });

test('functions of a module are called in a thread that is reused', async () => {
  expect(await patient.call('add', 1, 2)).toBe(3);
  expect(await patient.call('sizes', [Buffer.alloc(3), Buffer.alloc(5)])).toEqual([3, 5]);
  expect(await patient.call('nameOfThread')).toBe(await patient.call('nameOfThread'));
  expect(await patient.call('environment')).toEqual([]);
});

test("a function's error arrives with its message, and the thread is kept", async () => {
  const before = await patient.call('nameOfThread');
  await expect(patient.call('fail', 'no such thing')).rejects.toThrow('no such thing');
  expect(await patient.call('nameOfThread')).toBe(before);
});

test.each([
  'forever',
  'backtrack',
] as const)('%s is ended at the limit while other calls are answered', async (name) => {
  const ends: string[] = [];
  const others = Array.from({ length: 8 }, (_, i) => quick.call('add', i, 1));
  const answered = Promise.all(others).then(() => ends.push('others'));
  const hostile = quick.call(name).finally(() => ends.push(name));
  const block = await longestBlock(() =>
    expect(hostile).rejects.toMatchObject({ name: 'OverLimit', message: 'it takes more than 0.2 s' }),
  );
  await answered;
  expect(await Promise.all(others)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(ends).toEqual(['others', name]);
  expect(block).toBeLessThan(1000);
  expect(await quick.call('add', 1, 2)).toBe(3);
});

test('a limit is processor time: a call that gets little of it may take longer', async () => {
  expect(await quick.call('wait', 600)).toBe('timed-out');
  expect(await quick.call('workSlowly', 100)).toBe(100);
  // Earlier calls of the same thread do not count.
  for (let i = 0; i < 4; i += 1) expect(await quick.call('workSlowly', 100)).toBe(100);
  await expect(quick.call('workSlowly', 2000)).rejects.toMatchObject({ name: 'OverLimit' });
});

test('a call that gets no answer for too long may be tried again, which is no fault of its input', async () => {
  const hasty = apart<typeof hostile>(module, { seconds: 20, waitSeconds: 0.3, heapMb: 40 });
  await expect(hasty.call('wait', 60_000)).rejects.toMatchObject({
    name: 'NoAnswer',
    message: 'the thread did not answer within 0.3 s; the machine is too busy, try again later',
  });
  expect(await hasty.call('add', 1, 2)).toBe(3);
});

test('with more hostile calls than threads, each one ends and later calls are answered', async () => {
  const calls = Array.from({ length: 6 }, () => quick.call('forever'));
  const ended = await Promise.allSettled(calls);
  expect(ended.map((each) => each.status)).toEqual(Array(6).fill('rejected'));
  // On a busy machine a thread may not get the processor in so short a time.
  await until('an answer', async () => (await quick.call('add', 1, 2).catch(() => undefined)) === 3);
});

test('a call that fills the memory or ends its thread fails, and the process survives', async () => {
  await expect(patient.call('hoard')).rejects.toMatchObject({
    name: 'OverLimit',
    message: 'it takes more than 40 MB of memory',
  });
  await expect(patient.call('leave')).rejects.toThrow('the thread ended with 3');
  expect(await patient.call('add', 2, 2)).toBe(4);
});

test('a result that arrived in time counts, even if the main thread was blocked beyond the limit', async () => {
  await quick.call('add', 0, 0);
  const answer = quick.call('add', 1, 2);
  await new Promise(setImmediate);
  const until = performance.now() + 400;
  while (performance.now() < until);
  expect(await answer).toBe(3);
});

test('a tenant whose calls take forever delays nobody else', async () => {
  await Promise.all(Array.from({ length: 4 }, () => quick.call('add', 1, 1)));
  const ends: string[] = [];
  const forever = () => quick.call('forever').catch(() => ends.push('hostile'));
  const hostile = forTenant('a', () => Array.from({ length: 5 }, forever));
  const other = forTenant('b', () => quick.call('add', 1, 2)).then(() => ends.push('other'));
  await Promise.all([...hostile, other]);
  expect(ends).toEqual(['other', ...Array(5).fill('hostile')]);
});

test('calls of tenants that wait take turns', async () => {
  // With a single thread, they end in the order in which they begin.
  const single = apart<typeof hostile>(module, { seconds: 0.2, heapMb: 40 }, { atOnce: 1, mostOfTenant: 1 });
  const ends: string[] = [];
  const forever = (tenant: string) => forTenant(tenant, () => single.call('forever').catch(() => ends.push(tenant)));
  await Promise.all(['a', 'a', 'b', 'b', 'b', 'c'].map(forever));
  expect(ends).toEqual(['a', 'a', 'b', 'c', 'b', 'b']);
});

test('calls for nobody in particular leave threads to tenants', async () => {
  await Promise.all(Array.from({ length: 4 }, (_, i) => forTenant(`${i}`, () => quick.call('add', 1, 1))));
  const ends: string[] = [];
  const nobody = Array.from({ length: 5 }, () => quick.call('forever').catch(() => ends.push('nobody')));
  const tenant = forTenant('a', () => quick.call('add', 1, 2)).then(() => ends.push('tenant'));
  await Promise.all([...nobody, tenant]);
  expect(ends).toEqual(['tenant', ...Array(5).fill('nobody')]);
});

test('where two threads are the most, one tenant takes one of them', async () => {
  const two = apart<typeof hostile>(module, { seconds: 0.2, heapMb: 40 }, { atOnce: 2, mostOfTenant: 1 });
  await Promise.all(['a', 'b'].map((tenant) => forTenant(tenant, () => two.call('add', 1, 1))));
  const ends: string[] = [];
  const names = new Set<number>();
  const forever = () => two.call('forever').catch(() => ends.push('hostile'));
  const endless = forTenant('a', () => Array.from({ length: 3 }, forever));
  const name = (tenant: string) => forTenant(tenant, () => two.call('nameOfThread')).then((each) => names.add(each));
  await Promise.all(['b', 'c', 'd'].map((tenant) => name(tenant).then(() => ends.push(tenant))));
  expect([ends, names.size]).toEqual([['b', 'c', 'd'], 1]);
  await Promise.all(endless);
});

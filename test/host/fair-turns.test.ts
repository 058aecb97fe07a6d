import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { until } from '../../demo/real-service.ts';
import { FairReads, FairTurns } from '../../src/host/fair-turns.ts';

describe('fair turns', () => {
  const orderOf = async (given: [lane: string, isUrgent?: boolean][]) => {
    const turns = new FairTurns();
    const order: string[] = [];
    for (const [lane, isUrgent] of given) turns.add(lane, () => order.push(lane), isUrgent);
    await until('all of them', async () => order.length === given.length);
    return order;
  };

  test('urgent work comes first, but a flood of it delays neither that of others nor other work', async () => {
    const flood = Array.from({ length: 200 }, (): [string, boolean] => ['hostile', true]);
    const order = await orderOf([...flood, ['probe', true], ['user'], ['other user']]);
    expect(order.slice(0, 5)).toEqual(['hostile', 'user', 'probe', 'other user', 'hostile']);
  });

  test('a flood of one address delays no other address', async () => {
    const order = await orderOf([['hostile'], ['hostile'], ['hostile'], ['user'], ['probe', true]]);
    expect(order).toEqual(['probe', 'hostile', 'user', 'hostile', 'hostile']);
  });
});

test('work that costs nothing does not pile up while connections arrive', async () => {
  const turns = new FairTurns();
  let left = 100_000;
  for (let i = 0; i < left; i++) turns.add('hostile', () => (left -= 1));
  for (let turn = 0; left > 0; turn++) {
    turns.noteArrival();
    expect(turn).toBeLessThan(1000);
    await nextTurn();
  }
});

/** Spends processor time, as a parser does. */
const work = (ms: number) => {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
};

const connection = () => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });

test('of what arrives in one turn, each turn handles a part, and all lanes take part in the rest', async () => {
  const reads = new FairReads();
  const handled: string[] = [];
  const named = (lane: string) => {
    const socket = connection();
    reads.watch(socket, lane);
    return socket.on('data', () => {
      handled.push(lane);
      work(6);
    });
  };
  const all = [...Array.from({ length: 20 }, () => named('hostile')), named('user')];
  for (const socket of all) socket.push('x');
  const turns: number[] = [];
  while (handled.length < all.length) {
    turns.push(handled.length);
    await nextTurn();
  }
  const most = Math.max(...turns.map((count, i) => (turns[i + 1] ?? all.length) - count));
  expect(most).toBeLessThanOrEqual(5);
  expect(handled.indexOf('user')).toBeLessThan(6);
});

test('what waits keeps its order and its end, and is neither lost nor doubled', async () => {
  const reads = new FairReads();
  const busy = connection();
  reads.watch(busy, 'busy');
  busy.on('data', () => work(15));
  const socket = connection();
  reads.watch(socket, 'user');
  const got: string[] = [];
  socket.on('data', (chunk) => got.push(chunk.toString())).once('end', () => got.push('end'));
  const sent = Array.from({ length: 50 }, (_, i) => `${i}:${'x'.repeat(i * 1000)};`).join('');
  for (let at = 0; at < sent.length; at += 30_000) {
    busy.push('x');
    socket.push(sent.slice(at, at + 30_000));
    if (at % 4 === 0) await nextTurn();
  }
  socket.push(null);
  await until('the end', async () => got.includes('end'));
  expect(got.pop()).toBe('end');
  expect(got.join('')).toBe(sent);
  expect(Math.max(...got.map(({ length }) => length))).toBeLessThanOrEqual(16_384);
});

test('a connection that its reader paused while it waited is not read until the reader resumes it', async () => {
  const reads = new FairReads();
  const socket = connection();
  reads.watch(socket, 'user');
  const got: string[] = [];
  socket.on('data', (chunk) => {
    got.push(chunk.toString());
    work(15);
  });
  socket.push('first');
  socket.push('second');
  await until('the first', async () => got.length > 0);
  socket.pause();
  for (let i = 0; i < 5; i++) await nextTurn();
  const before = got.length;
  socket.push('third');
  for (let i = 0; i < 5; i++) await nextTurn();
  expect(got).toHaveLength(before);
  socket.resume();
  await until('all of it', async () => got.join('') === 'firstsecondthird');
});

test('a connection that ends while it waits is not read', async () => {
  const reads = new FairReads();
  const [busy, socket] = [connection(), connection()];
  for (const each of [busy, socket]) reads.watch(each, 'user');
  busy.on('data', () => work(15));
  const got: unknown[] = [];
  socket.on('data', (chunk) => got.push(chunk));
  busy.push('x');
  socket.push('x');
  await until('the busy one', async () => busy.readableLength === 0);
  socket.destroy();
  for (let i = 0; i < 5; i++) await nextTurn();
  expect(got.length).toBeLessThanOrEqual(1);
});

test('what waits after a request to connect gets to the listener that comes next', async () => {
  const reads = new FairReads();
  const socket = connection();
  reads.watch(socket, 'user');
  const got: string[] = [];
  const parse = (chunk: Buffer) => {
    got.push(chunk.toString());
    // As Node does for `CONNECT`.
    socket.off('data', parse);
    Object.assign(socket, { readableFlowing: null });
    process.nextTick(() => socket.on('data', (next) => got.push(next.toString())));
  };
  socket.on('data', parse);
  socket.push('x'.repeat(40_000));
  await until('the rest', async () => got.join('').length === 40_000);
  expect(got.length).toBeGreaterThan(1);
});

test('a connection that is kept for many requests is watched once', async () => {
  const socket = connection();
  new FairReads().watch(socket, 'first');
  const { emit, pause, resume } = socket;
  new FairReads().watch(socket, 'second');
  expect([socket.emit === emit, socket.pause === pause, socket.resume === resume]).toEqual([true, true, true]);
});

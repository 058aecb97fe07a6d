import { onePerKey } from '../../src/environment/prepare.ts';

const never = new AbortController().signal;

test('callers with the same key take turns, and one that gives up does not delay the others', async () => {
  const order: string[] = [];
  const stop = new AbortController();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const first = onePerKey('k', never, async () => {
    await held;
    order.push('first');
  });
  const second = onePerKey('k', stop.signal, async () => void order.push('second'));
  const third = onePerKey('k', never, async () => void order.push('third'));
  await onePerKey('other', never, async () => void order.push('other'));
  stop.abort(new Error('gave up'));
  await expect(second).rejects.toThrow('gave up');
  release();
  await Promise.all([first, third]);
  await expect(onePerKey('k', never, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await onePerKey('k', never, async () => void order.push('last'));
  expect(order).toEqual(['other', 'first', 'third', 'last']);
});

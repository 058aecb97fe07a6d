import { sharedResults } from '../../src/sprints/forecast.ts';

test('each result is computed once, a failed one again, and the oldest is forgotten', async () => {
  const shared = sharedResults<number>(2);
  let computed = 0;
  const compute = async () => ++computed;
  expect(await Promise.all([shared('a', compute), shared('a', compute), shared('b', compute)])).toEqual([1, 1, 2]);
  await expect(shared('c', () => Promise.reject(new Error('too long')))).rejects.toThrow('too long');
  expect(await shared('c', compute)).toBe(3);
  expect(await shared('b', compute)).toBe(2);
  expect(await shared('a', compute)).toBe(4);
  expect(await shared('b', compute)).toBe(2);
});

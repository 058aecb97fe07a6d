import { setImmediate } from 'node:timers/promises';
import { fewAtOnce, sharedWhileGoing } from '../../src/git/few-at-once.ts';

const never = new AbortController().signal;

/** Works that are held until they are released. */
function works(atOnce: number, ofOne: number) {
  const few = fewAtOnce(atOnce, ofOne);
  const begun: string[] = [];
  const release = new Map<string, () => void>();
  const run = (name: string, signal = never) =>
    few(name.slice(0, 1), signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => release.set(name, resolve));
      return name;
    });
  const end = async (name: string) => {
    release.get(name)?.();
    await setImmediate();
  };
  return { begun, run, end };
}

test('a few works run at once, fewer of one key, and those of the key with the fewest follow', async () => {
  const { begun, run, end } = works(3, 2);
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => run(name));
  await setImmediate();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('b1');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'b2']);
  await end('a2');
  expect(begun.slice(4)).toEqual(['c1']);
  await end('a1');
  expect(begun.slice(5)).toEqual(['a3']);
  for (const name of ['a3', 'b2', 'c1']) await end(name);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
});

test('a work that gives up does not run, and one that fails gives its turn back', async () => {
  const { begun, run, end } = works(1, 1);
  const stop = new AbortController();
  const first = run('a1');
  const second = run('a2', stop.signal);
  const third = run('b1');
  stop.abort(new Error('gave up'));
  await expect(second).rejects.toThrow('gave up');
  await expect(run('b2', stop.signal)).rejects.toThrow('gave up');
  await setImmediate();
  await end('a1');
  await end('b1');
  expect([await first, await third, begun]).toEqual(['a1', 'b1', ['a1', 'b1']]);
  const few = fewAtOnce(1, 1);
  await expect(few('k', never, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await few('k', never, async () => 'next')).toBe('next');
});

test('calls with the same key share one work while it goes on, also if it fails', async () => {
  const shared = sharedWhileGoing<number>();
  let begun = 0;
  const work = async () => {
    begun += 1;
    await setImmediate();
    if (begun === 2) throw new Error('no');
    return begun;
  };
  expect(await Promise.all([shared('a', work), shared('a', work)])).toEqual([1, 1]);
  const both = await Promise.allSettled([shared('a', work), shared('a', work)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([shared('a', work), shared('b', work)])).toEqual([4, 4]);
});

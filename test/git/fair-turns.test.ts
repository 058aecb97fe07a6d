import { fewAtOnce } from '../../src/git/few-at-once.ts';

// Validations, and the clones for chats, plans and diffs, share a few places in a process. Two projects, which one person can
// have, must not hold up all others with works that a slow git host makes long.

test('a project with nothing under way goes before further works of projects that hold all places', async () => {
  const takeTurn = fewAtOnce(4, 2);
  const { signal } = new AbortController();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (key: string) =>
    takeTurn(key, signal, () => {
      begun.push(key);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const works = Array.from({ length: 40 }, (_, i) => add(i % 2 === 0 ? 'first of eve' : 'second of eve'));
  works.push(add('ada'));
  await Promise.resolve();
  expect(begun).toHaveLength(4);
  ends.shift()?.();
  while (begun.length < 5) await new Promise(setImmediate);
  const fifth = begun[4];
  const all = Promise.all(works);
  const drain = setInterval(() => ends.shift()?.(), 0);
  await all;
  clearInterval(drain);
  expect(fifth).toBe('ada');
});

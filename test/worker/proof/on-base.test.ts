import { isOnBase, isSameChange } from '../../../src/worker/proof/publish-proof.ts';
import type { Work } from '../../../src/worker/work.ts';
import { baseOfChange } from '../../../src/worker/workspace/base-of-change.ts';

/** A checkout of a shallow clone: it knows the last commit only, and `mergeBase` fetches the others. */
const shallow = {
  isAncestor: async (ancestor: string, commit: string) => ancestor === commit,
  mergeBase: async (a: string, b: string) => (['one', 'two'].includes(a) && b === 'three' ? a : undefined),
} as unknown as Work['checkout'];
const work = { baseBranch: 'main', baseHead: 'three', checkout: shallow };

test.each([
  ['the same commit', { branch: 'main', commit: 'three' }, true],
  ['an earlier commit, which was not fetched yet', { branch: 'main', commit: 'one' }, true],
  ['a commit that is no longer in the branch', { branch: 'main', commit: 'gone' }, false],
  ['another branch', { branch: 'next', commit: 'one' }, false],
  ['an unknown base', undefined, false],
])('a proof for %s is one for the base branch: %s', async (_which, base, isOn) => {
  expect(await isOnBase(work, base)).toBe(isOn);
});

/** A branch `head`, whose pull request differs from these commits. */
const differing = (bases: string[] | undefined) => {
  const checkout = { ...shallow, mergeBases: async () => bases } as unknown as Work['checkout'];
  const retrying = <T>(ask: () => Promise<T>) => ask();
  return { ...work, checkout, retrying, branch: { from: 'head', continues: true } } as unknown as Work;
};

test.each([
  ['differs from the same commit', ['one'], { from: 'one' }, true],
  ['has taken in later commits', ['two'], { from: 'one' }, false],
  ['differs from several commits', ['one', 'two'], { from: 'one' }, false],
  ['has nothing in common with the base', [], { from: 'one' }, false],
  ['has a history that cannot be fetched', undefined, { from: 'one' }, false],
  ['was proved by an older version', ['one'], {}, false],
])('the same files are the same change where the branch %s: %s', async (_how, bases, from, isSame) => {
  const base = { branch: 'main', commit: 'one', ...from };
  expect(await isSameChange(differing(bases), base)).toBe(isSame);
});

test('a change differs from what its branch will have taken in of the base branch', async () => {
  expect(await baseOfChange(differing(['one']))).toBe('one');
  const merging = {
    ...differing(['one']),
    branch: { from: 'head', base: 'three', conflicts: [], continues: true },
  } as unknown as Work;
  expect(await baseOfChange(merging)).toBe('three');
  const fresh = { ...differing(undefined), branch: { from: 'head', continues: false } } as unknown as Work;
  expect(await baseOfChange(fresh)).toBe('head');
  await expect(baseOfChange(differing(['one', 'two']))).rejects.toThrow('crosswise');
  await expect(baseOfChange(differing([]))).rejects.toThrow('no common ancestor');
});

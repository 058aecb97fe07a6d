import { isOnBase, isSameChange } from '../../../src/worker/proof/publish-proof.ts';
import type { Work } from '../../../src/worker/work.ts';

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

test.each([
  ['begins at the commit of the proof', 'one', 'one', true],
  ['begins before the commit of the proof', 'one', 'two', true],
  ['has taken in later commits', 'three', 'one', false],
  ['has nothing in common with the base', undefined, 'one', false],
])('the same files are the same change where the branch %s: %s', async (_how, begins, commit, isSame) => {
  const checkout = {
    mergeBase: async (a: string, b: string) => {
      if (b === 'head') return begins;
      const [first, second] = [a, b].map((each) => ['one', 'two', 'three'].indexOf(each));
      return (first ?? 0) < (second ?? 0) ? a : b;
    },
  } as unknown as Work['checkout'];
  const branch = { from: 'head' } as Work['branch'];
  expect(await isSameChange({ ...work, checkout, branch }, { branch: 'main', commit })).toBe(isSame);
});

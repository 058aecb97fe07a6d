import type { FileInTree } from '../../git/engine.ts';
import type { Work } from '../work.ts';
import type { Reverts } from '../workspace/revert-pulls.ts';
import { testFilesAmong } from './tested-change.ts';

/** What the proof of an undo has to know of its tests. */
export interface UndoneTests {
  /** The test files that the undone changes had added or changed, and those that they had removed. */
  testsChanged: string[];
  /** Whether there were any tests before the undone changes. */
  hadTests: boolean;
  /** The files of the undo, with these tests as they were before. */
  treeWithTests: string;
}

/** The most paths that are stored of a change. The others still count. */
const maxPaths = 1000;

/**
 * Reads the tests of the time before the undone changes. Tests that these changes left alone are as they are now: whatever others
 * made of them since then is none of the undo.
 */
export async function readUndoneTests(work: Work, { pulls }: Reverts, tree: string): Promise<UndoneTests> {
  const { checkout } = work;
  const touched = new Set<string>();
  for (const { commit, before } of pulls) {
    for (const needed of [commit, before]) await checkout.fetchCommit(needed);
    for (const { path } of await checkout.changes(await checkout.treeOf(before), await checkout.treeOf(commit)))
      touched.add(path);
  }
  const then = await checkout.files(pulls.at(-1)?.before ?? tree);
  const isTest = await testFilesAmong(work, [...touched, ...then.keys()]);
  const tests = [...touched].filter(isTest);
  const sides = tests.map(
    (path): FileInTree => ({ path, ...(then.get(path) ?? { mode: '000000', oid: '0'.repeat(40) }) }),
  );
  return {
    testsChanged: tests.slice(0, maxPaths),
    hadTests: [...then.keys()].some(isTest),
    treeWithTests: sides.length === 0 ? tree : await checkout.replaceFiles(tree, sides),
  };
}

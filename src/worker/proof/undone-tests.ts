import { maxChangeBytes } from '../../git/diff.ts';
import type { Change, FileInTree } from '../../git/engine.ts';
import type { Work } from '../work.ts';
import { baseOfChange } from '../workspace/base-of-change.ts';
import { type Reverts, revertAll } from '../workspace/revert-pulls.ts';
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

/**
 * Returns the files of the base branch without the undone changes, with the paths of those in which the reverts conflict. There
 * somebody has to decide: tests are as they were before the undone changes, and other files as they are on the base branch.
 */
export async function baseWithoutUndone(
  work: Work,
  { pulls }: Reverts,
): Promise<{ tree: string; conflicts: string[] }> {
  const { checkout } = work;
  const from = await baseOfChange(work);
  const { tree, conflicts } = await revertAll(checkout, from, pulls);
  if (conflicts.length === 0) return { tree, conflicts };
  const [now, then] = [await checkout.files(from), await checkout.files(pulls.at(-1)?.before ?? from)];
  const isTest = await testFilesAmong(work, conflicts);
  const sides = conflicts.map((path) => ({ path, ...((isTest(path) ? then : now).get(path) ?? absent) }));
  return { tree: await checkout.replaceFiles(tree, sides), conflicts };
}

/**
 * Returns the files that an undo changes besides what it undoes, apart from new tests and documents: the tests from before the
 * undone changes say nothing about them. Where reverts conflict, somebody had to decide, so other files count as undone, but not
 * tests: what others had added there may be lost.
 */
export async function changedBesides(
  work: Work,
  base: { tree: string; conflicts: string[] },
  tree: string,
): Promise<string[]> {
  const { checkout } = work;
  const changes = await checkout.changes(base.tree, tree, maxChangeBytes);
  const paths = [...new Set([...base.conflicts, ...changes.map(({ path }) => path)])];
  const isTest = await testFilesAmong(work, paths);
  const conflicts = new Set(base.conflicts);
  const counts = ({ path, oldMode }: Change) => (isTest(path) ? oldMode !== absent.mode : !isDocument(path));
  const besides = changes.filter((change) => !conflicts.has(change.path) && counts(change)).map(({ path }) => path);
  const tests = base.conflicts.filter(isTest);
  if (tests.length === 0) return besides;
  const [now, pushed] = [await checkout.files(await baseOfChange(work)), await checkout.files(tree)];
  const isAsNow = (path: string) => now.get(path)?.oid === pushed.get(path)?.oid;
  return [...tests.filter((path) => !isAsNow(path)), ...besides];
}

/** Files that nobody runs. */
const isDocument = (path: string) => /\.(md|markdown|rst|adoc)$/i.test(path);

const absent = { mode: '000000', oid: '0'.repeat(40) };

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
  const sides = tests.map((path): FileInTree => ({ path, ...(then.get(path) ?? absent) }));
  return {
    testsChanged: tests.slice(0, maxPaths),
    hadTests: [...then.keys()].some(isTest),
    treeWithTests: sides.length === 0 ? tree : await checkout.replaceFiles(tree, sides),
  };
}

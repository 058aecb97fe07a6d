import { filesNotPlanned } from '../agent/planned-files.ts';
import { allWorks, type Work } from '../work.ts';
import type { TreeOf } from './changes.ts';

/** Finds in each repository the changed files that the task's approved plan does not name. Its pull request lists them. */
export async function findUnplanned(work: Work, treeOf: TreeOf): Promise<void> {
  const planned = work.planning?.approved?.files;
  if (planned === undefined) return;
  for (const each of allWorks(work)) {
    const folder = each === work ? '' : `../${each.repository.name}/`;
    const paths = (await changesOfBranch(each, treeOf)).map((path) => folder + path);
    each.unplanned = await filesNotPlanned(planned, paths);
  }
}

/** Returns the files that the branch of a run changes, with what earlier runs pushed to it. */
async function changesOfBranch(work: Work, treeOf: TreeOf): Promise<string[]> {
  const { checkout, branch } = work;
  const from = (branch.continues ? await checkout.mergeBase(branch.base, branch.from) : undefined) ?? branch.from;
  return (await checkout.changes(await checkout.treeOf(from), await treeOf(work))).map(({ path }) => path);
}

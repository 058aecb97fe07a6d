import type { Trees } from '../../conversation/ending.ts';
import { RunFailed } from '../../domain/run.ts';
import type { Change } from '../../git/engine.ts';
import { allWorks, type Work } from '../work.ts';

/** Returns the git tree of the files in the workspace of a repository. */
export type TreeOf = (work: Work) => Promise<string>;

/** Reads the files of all repositories of a run. Call it while no process can change them. @throws UnfitWorkTree */
export async function readTrees(work: Work): Promise<Trees> {
  const trees: Trees = {};
  for (const each of allWorks(work)) trees[each.repository.id] = await each.checkout.snapshot();
  return trees;
}

/** Looks up trees that were read before, so that whatever happened to the files since then does not count. */
export function lookUp(trees: Trees): TreeOf {
  return async ({ repository }) => {
    const tree = trees[repository.id];
    if (tree === undefined) throw new RunFailed('internal', `the files of ${repository.name} were not judged`);
    return tree;
  };
}

/** Returns what a run changed since the commit from which it began. */
export async function changesOf(work: Work, treeOf: TreeOf): Promise<Change[]> {
  return work.checkout.changes(await work.checkout.treeOf(work.branch.from), await treeOf(work));
}

/** Finds the repositories in which the run changed something. */
export async function changedWorks(work: Work, treeOf: TreeOf): Promise<Work[]> {
  const changed: Work[] = [];
  for (const each of allWorks(work)) if ((await changesOf(each, treeOf)).length > 0) changed.push(each);
  return changed;
}

/**
 * Returns whether the branch of a repository has commits that a pull request would show, by this run or an earlier one.
 */
async function isAhead(work: Work, changed: Work[]): Promise<boolean> {
  const { branch, checkout } = work;
  return changed.includes(work) || (branch.continues && !(await checkout.isAncestor(branch.from, branch.base)));
}

/**
 * Returns the repositories for which a run opens or updates a pull request: those that it changed, and its own if the branch is
 * ahead of the base. An undo has a pull request in each repository whose branch is ahead.
 */
export async function proposedWorks(work: Work, changed: Work[]): Promise<Work[]> {
  const proposed: Work[] = [];
  for (const each of allWorks(work)) {
    const mayBeAhead = each === work || each.reverts !== undefined;
    if (changed.includes(each) || (mayBeAhead && (await isAhead(each, changed)))) proposed.push(each);
  }
  return proposed;
}

/**
 * Returns the changes that the agent made. For a merge: what differs both from the merged tree and from the base.
 * Changes from the base were accepted there. A change that undoes one of them is the agent's, and so is an unresolved
 * conflict.
 */
export async function ownChangesOf(work: Work, treeOf: TreeOf): Promise<Change[]> {
  const { checkout, branch } = work;
  if (branch.conflicts === undefined) return changesOf(work, treeOf);
  const tree = await treeOf(work);
  const { tree: merged } = await checkout.merge(branch.from, branch.base);
  const sinceMerge = new Map((await checkout.changes(merged, tree)).map((change) => [change.path, change]));
  const sinceBase = await checkout.changes(await checkout.treeOf(branch.base), tree);
  const conflicts = new Set(branch.conflicts);
  return sinceBase.flatMap((change) => sinceMerge.get(change.path) ?? (conflicts.has(change.path) ? change : []));
}

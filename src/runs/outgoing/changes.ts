import type { Change } from '../../git/engine.ts';
import type { Work } from '../work.ts';

/** Returns the git tree of the files in the workspace of a repository. */
export type TreeOf = (work: Work) => Promise<string>;

/** Caches the tree of each repository, so that several checks in a row look at the same files. */
export function readOnce(): TreeOf {
  const trees = new Map<Work, Promise<string>>();
  return (work) => {
    const known = trees.get(work) ?? work.checkout.snapshot();
    trees.set(work, known);
    return known;
  };
}

/** Returns what a run changed since the commit from which it began. */
export async function changesOf(work: Work, treeOf: TreeOf): Promise<Change[]> {
  return work.checkout.changes(await work.checkout.treeOf(work.branch.from), await treeOf(work));
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

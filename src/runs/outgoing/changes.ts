import type { Change } from '../../git/engine.ts';
import type { Work } from '../work.ts';

/** Reads the tree of the files in the workspace of a repository. */
export type TreeOf = (work: Work) => Promise<string>;

/** Reads each repository once, so that several questions in a row are answered about the same files. */
export function readOnce(): TreeOf {
  const trees = new Map<Work, Promise<string>>();
  return (work) => {
    const known = trees.get(work) ?? work.checkout.snapshot();
    trees.set(work, known);
    return known;
  };
}

/** What a run changed since the commit it began from. */
export async function changesOf(work: Work, treeOf: TreeOf): Promise<Change[]> {
  return work.checkout.changes(await work.checkout.treeOf(work.branch.from), await treeOf(work));
}

/**
 * The changes that are the agent's own. For a merge: what differs both from the merged tree and from the base. What comes
 * from the base was accepted there, and a change that undoes it is the agent's. So is a conflict that was left unresolved.
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

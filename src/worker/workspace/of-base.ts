import { RunFailed } from '../../domain/run.ts';
import type { Checkout } from '../../git/engine.ts';
import { hasCommit } from '../../git/merge-base.ts';

// A run judges and shows only what differs from the base branch, so it must not take other commits for commits of that branch. An earlier
// run may have begun for another base, and a base can be pushed by force.

/** From which commits a run began. See `Branch`. */
interface Beginning {
  from: string;
  base: string;
  continues: boolean;
  conflicts?: string[];
}

/**
 * Ensures that the base branch has the commit from which a run began, and the one that it merged. Otherwise its pull request would bring
 * commits that nobody has looked at.
 * @throws RunFailed `repository`
 */
export async function requireOfBase(
  checkout: Checkout,
  branch: Beginning,
  { name, head }: { name: string; head: string },
): Promise<void> {
  if (!(await isOfBase(checkout, branch, head)))
    throw new RunFailed(
      'repository',
      `the branch ${name} does not have the commit from which the run began; start the task again without its earlier work`,
    );
}

/** Returns whether kept work still fits: its branch is as it was, and the base branch has the commits that it began from. */
export async function isBasis(
  checkout: Checkout,
  { chosen, left, base }: { chosen: Beginning; left: Beginning; base: string },
): Promise<boolean> {
  if (left.conflicts !== undefined || chosen.continues !== left.continues) return false;
  if (chosen.continues && chosen.from !== left.from) return false;
  return isOfBase(checkout, left, base);
}

/** A branch that exists may follow commits of another one, such as those of a stack. Only what a run adds to it counts. */
async function isOfBase(
  checkout: Checkout,
  { continues, from, base, conflicts }: Beginning,
  head: string,
): Promise<boolean> {
  const merged = conflicts === undefined ? [] : [base];
  for (const commit of new Set(continues ? merged : [from, ...merged]))
    if (!(await hasCommit(checkout, head, commit))) return false;
  return true;
}

/**
 * Returns the commit of the base branch that a branch has merged since a commit of its own; undefined if it has merged none.
 * @throws RunFailed `repository` if no single commit says that
 */
export async function lastMerged(
  checkout: Checkout,
  { base, from, filesFrom }: { base: string; from: string; filesFrom: string },
): Promise<string | undefined> {
  const merged = await checkout.mergeBases(base, [from]);
  const isEarlier = async (commit: string) => checkout.isAncestor(commit, filesFrom);
  if (merged !== undefined && (await Promise.all(merged.map(isEarlier))).every(Boolean)) return undefined;
  if (merged?.length === 1) return merged[0];
  throw new RunFailed(
    'repository',
    'the branch and its base branch were merged into each other crosswise, or long ago, so going back might drop what came with that. Go back to a later run, or ask for a revision',
  );
}

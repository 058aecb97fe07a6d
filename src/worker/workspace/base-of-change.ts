import { RunFailed } from '../../domain/run.ts';
import type { Work } from '../work.ts';
import { parentsOf } from './workspace.ts';

/** What decides from which commit a change differs. */
type Based = Pick<Work, 'baseBranch' | 'baseHead' | 'branch' | 'checkout' | 'retrying'>;

/**
 * Returns the commit from which a pull request of the branch differs once a change of its files is pushed. What the branch has
 * taken in from the base branch is then no part of the change.
 * @throws RunFailed `repository` if no single commit says what the change is
 */
export async function baseOfChange({ baseBranch, baseHead, branch, checkout, retrying }: Based): Promise<string> {
  // A new branch begins at a commit of the base branch; otherwise its workspace is not opened.
  if (!branch.continues) return branch.from;
  const parents = parentsOf(branch);
  if (parents.includes(baseHead)) return baseHead;
  const [base, ...others] = (await retrying(() => checkout.mergeBases(baseHead, parents))) ?? [];
  if (base !== undefined && others.length === 0) return base;
  const why =
    base === undefined
      ? 'have no common ancestor in the history that can be fetched'
      : 'were merged into each other crosswise, so what the change is depends on the common ancestor';
  throw new RunFailed('repository', `the branch and ${baseBranch} ${why}; merge ${baseBranch} into the branch`);
}

/** Returns the same commit; undefined if it is not clear. */
export async function clearBase(work: Based): Promise<string | undefined> {
  try {
    return await baseOfChange(work);
  } catch (error) {
    if (error instanceof RunFailed) return undefined;
    throw error;
  }
}

import { RunFailed } from '../../domain/run.ts';
import { problemWithPattern } from '../../repositories/settings/patterns.ts';
import { pathsMatching } from '../../repositories/settings/repository-settings.ts';
import { allWorks, type Work } from '../work.ts';
import type { TreeOf } from './changes.ts';

/** Names that no repository has. Patterns that match all of them match everything. */
const unlikely = ['\u0001', '\u0001/\u0002', '\u0001/\u0002/\u0003.\u0004', '.\u0001/\u0002'];

/** Says what is wrong with the files that a plan names; undefined when a change can be compared with them. */
export async function problemWithFiles(files: string[], matching = pathsMatching): Promise<string | undefined> {
  const patterns = files.map(plainPattern);
  for (const [i, pattern] of patterns.entries()) {
    const problem = problemWithPattern(pattern);
    if (problem !== undefined) return `files: ${JSON.stringify(files[i])} ${problem}`;
  }
  try {
    if ((await matching('files', patterns, unlikely)).size < unlikely.length) return undefined;
  } catch (error) {
    if (error instanceof RunFailed) return 'files: they take too long to compare; name fewer files, or their folders';
    throw error;
  }
  return 'files: they match every file, so nobody could tell whether the change keeps to the plan; name the files or their folders';
}

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

/** Returns the changed files that a plan does not name. A folder stands for everything below it. */
export async function filesNotPlanned(
  planned: string[],
  changed: string[],
  matching = pathsMatching,
): Promise<string[]> {
  try {
    const named = await matching('files', planned.map(plainPattern), changed.map(plainPattern));
    return changed.filter((path) => !named.has(plainPattern(path)));
  } catch (error) {
    // Comparing takes too long. It is better to list too much than to hide something.
    if (error instanceof RunFailed) return changed;
    throw error;
  }
}

/** Returns a pattern relative to the root of the repository. Another repository is at `../<name>/`. */
function plainPattern(given: string): string {
  return given
    .replace(/^\.\.\//, '…/')
    .replace(/^\.?\//, '')
    .replace(/\/$/, '');
}

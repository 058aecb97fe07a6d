import { GitFailed } from './engine.ts';

/** How many more commits of history to fetch before each further search. The last number means the whole history. */
const deepenBy = [100, 1000, 2_147_483_647];

/** An engine's search for a common ancestor, and its way to fetch more history. */
export interface History {
  search(): Promise<string | undefined>;
  deepen(commits: number): Promise<unknown>;
}

/**
 * Finds the common ancestor and fetches only as much history as needed. Returns undefined when the whole history
 * contains none.
 */
export async function findMergeBase({ search, deepen }: History): Promise<string | undefined> {
  for (const commits of [0, ...deepenBy]) {
    if (commits > 0) await deepen(commits);
    const found = await search();
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Ensures that there is a common ancestor, without which nothing can be merged.
 * @throws GitFailed `broken` if there is none
 */
export async function requireMergeBase(history: History): Promise<void> {
  if ((await findMergeBase(history)) === undefined)
    throw new GitFailed('broken', 'git: the commits have no history in common');
}

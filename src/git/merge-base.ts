import { GitFailed } from './engine.ts';

/** How many more commits of history to fetch for each further search; the last number means all of them. */
const deepenBy = [100, 1000, 2_147_483_647];

/** How an engine searches for a common ancestor, and how it fetches more history to search in. */
export interface History {
  search(): Promise<string | undefined>;
  deepen(commits: number): Promise<unknown>;
}

/** The common ancestor, with as little history as it takes. Undefined when all of the history holds none. */
export async function findMergeBase({ search, deepen }: History): Promise<string | undefined> {
  for (const commits of [0, ...deepenBy]) {
    if (commits > 0) await deepen(commits);
    const found = await search();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @throws GitFailed `broken`: without a common ancestor nothing can be merged */
export async function requireMergeBase(history: History): Promise<void> {
  if ((await findMergeBase(history)) === undefined)
    throw new GitFailed('broken', 'git: the commits have no history in common');
}

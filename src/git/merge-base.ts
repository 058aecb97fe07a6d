import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, GitFailed } from './engine.ts';

/** How many more commits of history to fetch before each further search. The last number means the whole history. */
const deepenBy = [100, 1000, 2_147_483_647];

/** How many more to fetch until the answer is certain. The whole history of a large repository would be gigabytes. */
const deepenForCertainty = [100, 1000, 10_000];

/** An engine's search for common ancestors, and its way to fetch more history. */
export interface History {
  /** Returns the best common ancestors, as far as the history that was fetched tells. */
  search(): Promise<string[]>;
  gitDir: string;
  /** Returns the commits that are no ancestors of these, at most so many. */
  since(ancestors: string[], most: number): Promise<string[]>;
  deepen(commits: number): Promise<unknown>;
}

/**
 * Finds common ancestors and fetches only as much history as needed. Finds none if the whole history contains none.
 */
async function findBases({ search, deepen }: History): Promise<string[]> {
  for (const commits of [0, ...deepenBy]) {
    if (commits > 0) await deepen(commits);
    const found = await search();
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * Returns the best common ancestors. A common ancestor is not always the best: a merge may have brought one close, while the
 * way to a later one is longer than what was fetched. Returns undefined if more would have to be fetched than is sensible.
 */
export async function certainBases(history: History): Promise<string[] | undefined> {
  // One of several may be an ancestor of another, on a way that was not fetched.
  return basesWhen(
    history,
    async (found) => (await isWhole(history)) || (found.length === 1 && isNoOtherLeft(history, found)),
  );
}

/**
 * Returns the best common ancestor, or one of several; undefined if there is none. It fetches only a limited history. If that does not
 * tell which ancestor is the best, it returns the best one that it has seen.
 */
export async function bestBase(history: History): Promise<string | undefined> {
  const isBest = async (found: string[]) => (await isWhole(history)) || isNoOtherLeft(history, found);
  return ((await basesWhen(history, isBest)) ?? (await history.search()))[0];
}

/** Fetches history until these are the common ancestors; returns undefined if they may still be others then. */
async function basesWhen(
  history: History,
  areFound: (found: string[]) => Promise<boolean>,
): Promise<string[] | undefined> {
  let found = await findBases(history);
  for (const commits of [0, ...deepenForCertainty]) {
    if (commits > 0) {
      await history.deepen(commits);
      found = await history.search();
    }
    if (await areFound(found)) return found;
  }
  return undefined;
}

/** A branch can have any number of commits. With more than this, the answer is not certain. */
const maxSince = 100_000;

async function isWhole({ gitDir }: History): Promise<boolean> {
  return (await oldestIn(gitDir)).size === 0;
}

/** Returns whether further history leads only to ancestors of these common ancestors. */
async function isNoOtherLeft(history: History, found: string[]): Promise<boolean> {
  const oldest = await oldestIn(history.gitDir);
  const since = await history.since(found, maxSince);
  return since.length < maxSince && !since.some((commit) => oldest.has(commit));
}

/**
 * Returns the commits of which the parents were not fetched. There is no such file if the whole history was. If it cannot be
 * read, the history must not count as whole.
 */
async function oldestIn(gitDir: string): Promise<Set<string>> {
  const shallow = await readFile(join(gitDir, 'shallow'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return new Set(linesOf(shallow));
}

/** Splits what git prints into lines. */
export const linesOf = (output: string) => output.split('\n').filter((line) => line !== '');

/**
 * Fetches the history that a merge of two commits needs. With an older common ancestor, git would take what both sides have for
 * changes of both.
 * @throws GitFailed `broken` if there is no common ancestor
 */
export async function requireMergeBase(history: History): Promise<void> {
  if ((await bestBase(history)) === undefined)
    throw new GitFailed('broken', 'git: the commits have no history in common');
}

/** Returns whether the history of a branch has a commit. The branch may be another one by now, or was pushed by force. */
export async function hasCommit(checkout: Checkout, head: string, commit: string): Promise<boolean> {
  if (commit === head) return true;
  return (await checkout.fetchCommit(commit)) && (await checkout.mergeBase(head, commit)) === commit;
}

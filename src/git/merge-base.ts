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
  let found = await findBases(history);
  for (const commits of [0, ...deepenForCertainty]) {
    if (commits > 0) {
      await history.deepen(commits);
      found = await history.search();
    }
    if ((await isWhole(history)) || (await areBest(history, found))) return found;
  }
  return undefined;
}

/**
 * Returns the best common ancestor, or one of several; undefined if there is none. It fetches only a limited history. If that does not
 * tell which ancestor is the best, it returns the best one that it has seen.
 */
export async function bestBase(history: History): Promise<string | undefined> {
  return ((await certainBases(history)) ?? (await history.search()))[0];
}

/** Branches that were merged crosswise have two, seldom more. With more than this, the answer is not certain. */
const maxBases = 10;

/** Returns whether further history leads only to ancestors of each of these: none is an ancestor of another, or of one that is not seen. */
async function areBest(history: History, found: string[]): Promise<boolean> {
  if (found.length === 0 || found.length > maxBases) return false;
  const oldest = await oldestIn(history.gitDir);
  for (const each of found) {
    const since = await history.since([each], maxSince);
    if (since.length >= maxSince || since.some((commit) => oldest.has(commit))) return false;
  }
  return true;
}

/** A branch can have any number of commits. With more than this, the answer is not certain. */
const maxSince = 100_000;

async function isWhole({ gitDir }: History): Promise<boolean> {
  return (await oldestIn(gitDir)).size === 0;
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

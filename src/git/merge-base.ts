import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitFailed } from './engine.ts';

/** How many more commits of history to fetch before each further search. The last number means the whole history. */
const deepenBy = [100, 1000, 2_147_483_647];

/** An engine's search for common ancestors, and its way to fetch more history. */
export interface History {
  /** Returns the best common ancestors, as far as the history that was fetched tells. */
  search(): Promise<string[]>;
  gitDir: string;
  /** Returns the commits that only one side has: those that are no ancestors of these. */
  since(ancestors: string[]): Promise<string[]>;
  deepen(commits: number): Promise<unknown>;
}

/** The best common ancestors of two sides. */
interface MergeBases {
  found: string[];
  /** Whether no further history could change them. */
  isCertain: boolean;
}

/**
 * Finds the best common ancestors and fetches only as much history as needed. Finds none if the whole history contains
 * none. A common ancestor is not always the best: a merge may have brought one close, while the way to a later one is
 * longer than what was fetched.
 */
async function findMergeBases(history: History): Promise<MergeBases> {
  let bases: MergeBases = { found: [], isCertain: false };
  for (const commits of [0, ...deepenBy]) {
    if (commits > 0) await history.deepen(commits);
    bases = await look(history);
    if (bases.found.length > 0 && bases.isCertain) return bases;
  }
  return bases;
}

/** Returns the commits of which the parents were not fetched. */
async function oldestIn(gitDir: string): Promise<Set<string>> {
  const shallow = await readFile(join(gitDir, 'shallow'), 'utf8').catch(() => '');
  return new Set(linesOf(shallow));
}

/** Splits what git prints into lines. */
export const linesOf = (output: string) => output.split('\n').filter((line) => line !== '');

async function look(history: History): Promise<MergeBases> {
  const found = await history.search();
  const oldest = await oldestIn(history.gitDir);
  if (oldest.size === 0) return { found, isCertain: true };
  // One of several may be an ancestor of another.
  if (found.length !== 1) return { found, isCertain: false };
  const since = await history.since(found);
  return { found, isCertain: !since.some((commit) => oldest.has(commit)) };
}

/** Returns the best common ancestors; undefined if the history that decides about them cannot be fetched. */
export async function certainBases(history: History): Promise<string[] | undefined> {
  const { found, isCertain } = await findMergeBases(history);
  return isCertain ? found : undefined;
}

/** Returns a common ancestor, the best one as far as history can be fetched; undefined if there is none. */
export async function likelyBase(history: History): Promise<string | undefined> {
  return (await findMergeBases(history)).found[0];
}

/**
 * Ensures that there is a common ancestor, without which nothing can be merged.
 * @throws GitFailed `broken` if there is none
 */
export async function requireMergeBase(history: History): Promise<void> {
  if ((await findMergeBases(history)).found.length === 0)
    throw new GitFailed('broken', 'git: the commits have no history in common');
}

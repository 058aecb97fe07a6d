import { readFile } from 'node:fs/promises';
import { GitFailed } from '../engine.ts';
import { roomIn } from '../guarded.ts';
import type { NativeRepository } from './repository.ts';

/** The first fetch gets the commit without its history. */
const firstDepth = '--depth=1';

/** Fetches a branch and returns its commit; undefined when the remote has no such branch. */
export async function fetchBranch(repository: NativeRepository, branch: string): Promise<string | undefined> {
  if (!(await fetchUnlessMissing(repository, refspec(branch), /couldn't find remote ref/))) return undefined;
  // Close the packs that the object reader has open: they may come from a damaged cache that was removed.
  repository.objects.forget();
  repository.branches.add(branch);
  const [commit] = (await readFile(`${repository.gitDir}/FETCH_HEAD`, 'utf8')).split('\t');
  return commit;
}

/** Fetches one commit by its id; returns false when the remote does not serve it. */
export function fetchCommit(repository: NativeRepository, commit: string): Promise<boolean> {
  return fetchUnlessMissing(repository, commit, /not our ref|unadvertised object/);
}

/** Fetches that many more commits of history for every branch fetched so far. */
export function deepen(repository: NativeRepository, commits: number): Promise<void> {
  return fetchSpecs(repository, `--deepen=${commits}`, [...repository.branches].map(refspec));
}

/** Fetches; returns false when git's error matches `missing`, which means that the remote does not have the object. */
async function fetchUnlessMissing(repository: NativeRepository, spec: string, missing: RegExp): Promise<boolean> {
  try {
    await fetchSpecs(repository, firstDepth, [spec]);
    return true;
  } catch (error) {
    if (error instanceof GitFailed && missing.test(error.message)) return false;
    throw error;
  }
}

async function fetchSpecs(repository: NativeRepository, depth: string, specs: string[]): Promise<void> {
  const { remote, gitDir } = repository;
  const args = ['fetch', '--quiet', '--no-tags', depth, '--', remote.url, ...specs];
  await repository.gitInWorkTree(args, { remote, room: await roomIn(gitDir) });
}

function refspec(branch: string): string {
  return `+refs/heads/${branch}:refs/remotes/origin/${branch}`;
}

import git from 'isomorphic-git';
import type { Merged, NewCommit } from '../engine.ts';
import { type History, requireMergeBase } from '../merge-base.ts';
import { deepen, remoteHead } from './fetch.ts';
import { mergeTrees } from './isomorphic-merge.ts';
import type { IsomorphicRepository } from './repository.ts';

/** Writes a commit and returns its id. */
export function writeCommit(repository: IsomorphicRepository, commit: NewCommit): Promise<string> {
  const { tree, parents, message, author, at } = commit;
  const person = { ...author, timestamp: Math.floor(at.getTime() / 1000), timezoneOffset: 0 };
  const written = { tree, parent: parents, message, author: person, committer: person };
  return repository.run(() => git.writeCommit({ ...repository.local, commit: written }));
}

export function historyOf(repository: IsomorphicRepository, a: string, b: string): History {
  return {
    search: async () => {
      const found: string[] = await git.findMergeBase({ ...repository.local, oids: [a, b] }).catch(() => []);
      return found[0];
    },
    deepen: (commits) => deepen(repository, commits),
  };
}

/** Merges two commits; see `Checkout.merge`. */
export async function mergeCommits(repository: IsomorphicRepository, ours: string, theirs: string): Promise<Merged> {
  await requireMergeBase(historyOf(repository, ours, theirs));
  return repository.run(() => mergeTrees(repository.gitDir, ours, theirs));
}

/** Returns whether a commit is an ancestor of another; false also for a commit that is not in the repository. */
export async function isAncestor(repository: IsomorphicRepository, ancestor: string, commit: string): Promise<boolean> {
  if (ancestor === commit) return true;
  return git.isDescendent({ ...repository.local, oid: commit, ancestor, depth: -1 }).catch(() => false);
}

/** Pushes a commit; see `Checkout.push`. */
export async function pushCommit(repository: IsomorphicRepository, commit: string, branch: string): Promise<void> {
  await git.writeRef({ ...repository.local, ref: `refs/heads/${branch}`, value: commit, force: true });
  try {
    const what = { ref: branch, remoteRef: branch, force: false };
    await repository.run(() => git.push({ ...repository.withRemote, ...what }));
  } catch (error) {
    if (repository.signal?.aborted) throw error;
    // The push may have succeeded although its response was lost. Check the remote's branch.
    if ((await remoteHead(repository, branch).catch(() => undefined)) !== commit) throw error;
  }
}

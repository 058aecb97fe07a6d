import { GitFailed, type Merged, type NewCommit } from '../engine.ts';
import { type History, requireMergeBase } from '../merge-base.ts';
import { deepen } from './fetch.ts';
import type { NativeRepository } from './repository.ts';

/** Writes a commit and returns its id. */
export async function writeCommit(repository: NativeRepository, commit: NewCommit): Promise<string> {
  const { tree, parents, message } = commit;
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  return text(await repository.git(args, { input: message, env: authorship(commit) }));
}

function authorship({ author, at }: NewCommit): Record<string, string> {
  const date = `${Math.floor(at.getTime() / 1000)} +0000`;
  return {
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
}

export function historyOf(repository: NativeRepository, a: string, b: string): History {
  return {
    search: async () => {
      const found = await repository.git(['merge-base', a, b]).then(text, () => '');
      return found === '' ? undefined : found;
    },
    deepen: (commits) => deepen(repository, commits),
  };
}

/** Merges two commits; see `Checkout.merge`. */
export async function mergeCommits(repository: NativeRepository, ours: string, theirs: string): Promise<Merged> {
  await requireMergeBase(historyOf(repository, ours, theirs));
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs];
  // `git merge-tree` exits with 1 when there are conflicts.
  const [tree = '', ...conflicts] = (await repository.git(args, { accept: [1] })).toString('utf8').split('\0');
  return { tree, conflicts: conflicts.filter((path) => path !== '') };
}

/** Returns whether a commit is an ancestor of another; false also for a commit that is not in the repository. */
export async function isAncestor(repository: NativeRepository, ancestor: string, commit: string): Promise<boolean> {
  try {
    await repository.git(['merge-base', '--is-ancestor', ancestor, commit]);
    return true;
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
}

/** Pushes a commit; see `Checkout.push`. */
export async function pushCommit(repository: NativeRepository, commit: string, branch: string): Promise<void> {
  const { remote, signal } = repository;
  const ref = `refs/heads/${branch}`;
  try {
    await repository.gitInWorkTree(['push', '--quiet', '--no-verify', '--', remote.url, `${commit}:${ref}`], {
      remote,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    // The push may have succeeded although its response was lost. Check the remote's branch.
    const head = await repository.git(['ls-remote', '--', remote.url, ref], { remote }).then(text, () => '');
    if (!head.startsWith(commit)) throw error;
  }
}

function text(output: Buffer): string {
  return output.toString('utf8').trim();
}

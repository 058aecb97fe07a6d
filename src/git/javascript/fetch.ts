import git from 'isomorphic-git';
import type { Remote } from '../engine.ts';
import { told } from './isomorphic-faults.ts';
import { connectionTo, type IsomorphicRepository } from './repository.ts';

/** The depth that git understands as the whole history. */
const wholeHistory = 2_147_483_647;

/** Returns the refs whose full name starts with `prefix`, with their commits. */
export function listRefs(remote: Remote, signal: AbortSignal | undefined, prefix: string) {
  return told(signal, async () => {
    const connection = connectionTo(remote, signal);
    const refs = await git.listServerRefs({ ...connection, prefix, protocolVersion: 2 });
    connection.http.assertWhole();
    return refs;
  });
}

/** Returns the commit of a remote branch, or undefined when there is no such branch. */
export async function remoteHead({ remote, signal }: IsomorphicRepository, branch: string) {
  const name = `refs/heads/${branch}`;
  return (await listRefs(remote, signal, name)).find(({ ref }) => ref === name)?.oid;
}

/** Fetches a branch and returns its commit; undefined when the remote has no such branch. */
export async function fetchBranch(repository: IsomorphicRepository, branch: string): Promise<string | undefined> {
  const head = await remoteHead(repository, branch);
  if (head === undefined) return undefined;
  await fetchHistory(repository, branch, 1);
  repository.branches.add(branch);
  return head;
}

/**
 * Fetches one commit by its id; returns false when no branch fetched so far contains it. The protocol can fetch a
 * single commit but the library cannot, so the whole history of those branches is fetched.
 */
export async function fetchCommit(repository: IsomorphicRepository, commit: string): Promise<boolean> {
  const isHere = () => git.readCommit({ ...repository.local, oid: commit }).then(() => true);
  if (await isHere().catch(() => false)) return true;
  await deepen(repository, wholeHistory);
  return isHere().catch((error) => {
    if (error.code === 'NotFoundError') return false;
    throw error;
  });
}

/** Fetches every branch fetched so far again, to a depth of that many more commits. */
export async function deepen(repository: IsomorphicRepository, commits: number): Promise<void> {
  for (const branch of repository.branches) await fetchHistory(repository, branch, commits);
}

async function fetchHistory(repository: IsomorphicRepository, branch: string, depth: number): Promise<void> {
  const what = { ref: branch, remoteRef: branch, singleBranch: true, tags: false, depth };
  await repository.run(() => git.fetch({ ...repository.withRemote, ...what }));
}

import fs from 'node:fs';
import git, { type GitAuth } from 'isomorphic-git';
import { GitFailed, type GitFault, type Remote } from '../engine.ts';
import { answerFault } from '../native/explain.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import type { ReadBefore } from '../work-tree/work-tree.ts';
import { gitHttp } from './git-http.ts';

/** Calls the library and translates its errors. @throws GitFailed, or the reason of the signal */
async function withGitFailures<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await act();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof GitFailed) throw error;
    throw new GitFailed(faultOf(error), `git: ${(error as Error).message.split('\n')[0]}`);
  }
}

function faultOf(error: unknown): GitFault {
  const { name, data } = error as { name?: string; data?: { statusCode?: number } };
  if (name === 'HttpError') {
    return answerFault({ status: data?.statusCode ?? 0, retryAfterMs: undefined })?.fault ?? 'broken';
  }
  if (name === 'UserCanceledError') return 'auth';
  // The host accepted the push but failed to process it.
  if (name === 'GitPushError' && /internal server error|unpacker error/i.test((error as Error).message))
    return 'unreachable';
  if (name === 'PushRejectedError' || name === 'GitPushError') return 'rejected';
  if (name === 'NotFoundError') return 'missing';
  return 'broken';
}

/** One repository on disk: the arguments for the library, and the state kept between two operations. */
export class IsomorphicRepository {
  readonly gitDir: string;
  readonly workTree: string;
  readonly signal: AbortSignal | undefined;
  /** Replaced when the token is renewed. */
  remote: Remote;
  /** Branches fetched so far. A search for a common ancestor fetches more history of all of them. */
  readonly branches = new Set<string>();
  /** The files of the commit that is checked out. */
  base = new Map<string, TreeEntry>();
  readonly before: ReadBefore = new Map();

  constructor(remote: Remote, folders: { gitDir: string; workTree: string }, signal: AbortSignal | undefined) {
    this.remote = remote;
    this.gitDir = folders.gitDir;
    this.workTree = folders.workTree;
    this.signal = signal;
  }

  /** Returns the library's arguments for an operation on disk. */
  get local() {
    return { fs, dir: this.workTree, gitdir: this.gitDir };
  }

  /** Returns the library's arguments for an operation with the remote. */
  get withRemote() {
    return { ...this.local, ...connectionTo(this.remote, this.signal), remote: 'origin' };
  }

  /** Calls the library and translates its errors. @throws GitFailed, or the reason of the signal */
  run<T>(act: () => Promise<T>): Promise<T> {
    return withGitFailures(this.signal, act);
  }

  /** Returns the tree of a commit. */
  async treeOf(commit: string): Promise<string> {
    return (await git.readCommit({ ...this.local, oid: commit })).commit.tree;
  }
}

function connectionTo(remote: Remote, signal: AbortSignal | undefined) {
  const basic = Buffer.from(`x-access-token:${remote.token}`).toString('base64');
  const headers: Record<string, string> = remote.token === undefined ? {} : { Authorization: `Basic ${basic}` };
  // The library would ask for other credentials. There are none, so cancel.
  const onAuthFailure = (): GitAuth => ({ cancel: true });
  return { http: gitHttp(remote, signal), url: remote.url, headers, onAuthFailure };
}

/** The depth that git understands as the whole history. */
const wholeHistory = 2_147_483_647;

/** Returns the refs whose full name starts with `prefix`, with their commits. */
export function listRefs(remote: Remote, signal: AbortSignal | undefined, prefix: string) {
  return withGitFailures(signal, async () => {
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

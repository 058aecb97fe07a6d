import fs from 'node:fs';
import git, { type GitAuth } from 'isomorphic-git';
import type { Remote } from '../engine.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import type { ReadBefore } from '../work-tree/work-tree.ts';
import { gitHttp } from './git-http.ts';
import { told } from './isomorphic-faults.ts';

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
    return told(this.signal, act);
  }

  /** Returns the tree of a commit. */
  async treeOf(commit: string): Promise<string> {
    return (await git.readCommit({ ...this.local, oid: commit })).commit.tree;
  }
}

export function connectionTo(remote: Remote, signal: AbortSignal | undefined) {
  const basic = Buffer.from(`x-access-token:${remote.token}`).toString('base64');
  const headers: Record<string, string> = remote.token === undefined ? {} : { Authorization: `Basic ${basic}` };
  // The library would ask for other credentials. There are none, so cancel.
  const onAuthFailure = (): GitAuth => ({ cancel: true });
  return { http: gitHttp(remote, signal), url: remote.url, headers, onAuthFailure };
}

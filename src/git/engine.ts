/** Where a repository is and what lets us in. The token goes only to that origin, and never into an argument or a file. */
export interface Remote {
  url: string;
  token?: string | undefined;
  /** When the token stops letting us in; one that does not end says nothing. */
  tokenEndsAt?: Date | undefined;
  /** Who sees it; what was fetched is cached for the same only. Without it nothing is cached. */
  scope?: string | undefined;
  /** `host:port:address`: the address that was checked is the one that is dialled. */
  resolved?: string | undefined;
  /** Silence that long means that the remote is gone; 60 s when it is not said. */
  patienceSeconds?: number | undefined;
  /** An answer that is not over by then is given up, however busily it drips; half an hour when it is not said. */
  limitSeconds?: number | undefined;
  /** More is not taken in one answer. For git in JavaScript only, which holds all of it in memory. */
  maxAnswerBytes?: number | undefined;
}

/** A large push takes its time to be answered. */
export const silenceSeconds = 60;

/** A transfer that is slower than this for `patienceSeconds` is given up. */
export const leastBytesPerSecond = 10_000;

/** The largest repositories come in minutes; a remote that drips holds a run no longer than this. */
export const remoteSeconds = 1800;

/**
 * `unreachable`, `slow` and `not_git` (a web page instead of git data, as proxies send it while a host is down) may go away.
 * `rejected` is a decision of the remote about a push.
 */
export type GitFault = 'auth' | 'missing' | 'unreachable' | 'not_git' | 'slow' | 'rejected' | 'broken';

/** A git operation failed; `fault` says whose fault it is, the message is free of secrets. */
export class GitFailed extends Error {
  readonly fault: GitFault;
  /** The pause that the remote asked for. */
  readonly retryAfterMs: number | undefined;

  constructor(fault: GitFault, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'GitFailed';
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether the same operation may soon work. */
export function isPassing(fault: GitFault): boolean {
  return fault === 'unreachable' || fault === 'not_git';
}

/** One path that differs between two trees. Modes are git's octal texts, `000000` where there is nothing. */
export interface Change {
  path: string;
  oldMode: string;
  newMode: string;
  oldOid: string;
  newOid: string;
}

export interface Person {
  name: string;
  email: string;
}

export interface NewCommit {
  tree: string;
  parents: string[];
  message: string;
  author: Person;
  /** The same date makes the same commit again, so a push can be repeated without harm. */
  at: Date;
}

/** The tree of two commits joined, and the paths on which they conflict. */
export interface Merged {
  tree: string;
  conflicts: string[];
}

/** A repository on disk whose git folder lies outside the files, out of reach for whoever works on them. */
export interface Checkout {
  gitDir: string;
  workTree: string;
  /** Brings a branch of the remote; its commit, or undefined when there is no such branch. */
  fetch(branch: string): Promise<string | undefined>;
  /** Brings one commit by its id; false when the remote does not hand it out. */
  fetchCommit(commit: string): Promise<boolean>;
  /** Puts the files of a commit into the work tree and makes the index equal to it. */
  checkout(commit: string): Promise<void>;
  /** Called once the files are in place and before anybody works on them; makes the snapshots after it faster. */
  remember(): Promise<void>;
  /**
   * The tree of the work tree as it is now, ignored files left out; see `readWorkTree`, which keeps git out of it.
   * @throws UnfitWorkTree
   */
  snapshot(): Promise<string>;
  treeOf(commit: string): Promise<string>;
  changes(from: string, to: string): Promise<Change[]>;
  /** The content of a file at a commit; undefined when there is none, and only then. */
  readFile(commit: string, path: string): Promise<Buffer | 'too large' | undefined>;
  /** The contents of several blobs at once, without those of more than so many bytes. */
  readBlobs(oids: string[], maxBytes?: number): Promise<Map<string, Buffer>>;
  commit(commit: NewCommit): Promise<string>;
  /** The best common ancestor; fetches older history as far as it needs to. Undefined when there is none. */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  /**
   * Joins two commits without touching the work tree. Files on which they conflict hold git's conflict markers.
   * @throws GitFailed `broken` when they have nothing in common
   */
  merge(ours: string, theirs: string): Promise<Merged>;
  isAncestor(ancestor: string, commit: string): Promise<boolean>;
  /**
   * Moves the remote branch to a commit, never by force. Returns when the remote has it, also when the answer got lost.
   * @throws GitFailed `rejected` when the remote refused
   */
  push(commit: string, branch: string): Promise<void>;
  /** The token that the remote lets us in with from now on; those of an installation end after an hour. */
  renewToken(token: string | undefined): Promise<void>;
  /** Ends what the engine keeps running for it; the folders stay. */
  close(): Promise<void>;
}

/** A larger file is nothing that is read whole. */
export const maxReadBytes = 1_000_000;

/** What the service needs of git; every engine passes the same tests. */
export interface GitEngine {
  name: 'native' | 'isomorphic';
  /** Name and version, for people. */
  version(): Promise<string>;
  /** Branches and their commits. @throws GitFailed */
  listBranches(remote: Remote, signal?: AbortSignal): Promise<Map<string, string>>;
  /** An empty repository in `gitDir` that fetches from the remote and checks out into `workTree`. */
  open(remote: Remote, folders: { gitDir: string; workTree: string }, signal?: AbortSignal): Promise<Checkout>;
}

/** What is said of a remote that took longer than it may. */
export function tooSlow({ limitSeconds = remoteSeconds }: Pick<Remote, 'limitSeconds'> = {}): GitFailed {
  return new GitFailed('slow', `git: the remote was not done after ${limitSeconds} s`);
}

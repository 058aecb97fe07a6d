/** A repository on a git host and the token for it. The token is sent to that origin only, never put into an argument or a file. */
export interface Remote {
  url: string;
  token?: string | undefined;
  /** When the token expires; absent for a token that does not. */
  tokenEndsAt?: Date | undefined;
  /** The project that may see it: what was fetched is cached for that project alone. Without it nothing is cached. */
  scope?: string | undefined;
  /** `host:port:address`. Connects to this address, which has been checked, instead of resolving the name again. */
  resolved?: string | undefined;
  /** How long a remote may be silent before it counts as unreachable; 60 s by default. */
  patienceSeconds?: number | undefined;
  /** How long an answer may take in all, even if bytes keep arriving; half an hour by default. */
  limitSeconds?: number | undefined;
  /** The largest answer to accept. Only for git in JavaScript, which holds it in memory. */
  maxAnswerBytes?: number | undefined;
}

/** A host may need this long to answer a large push. */
export const silenceSeconds = 60;

/** A transfer that is slower than this for `patienceSeconds` fails. */
export const leastBytesPerSecond = 10_000;

/** The largest repositories take minutes. A remote that sends slowly holds up a run no longer than this. */
export const remoteSeconds = 1800;

/**
 * What went wrong. `unreachable`, `slow` and `not_git` (a web page instead of git data, which proxies send while a host is
 * down) may pass. `rejected` means that the remote refused a push. `broken` is everything else, such as damaged objects.
 */
export type GitFault = 'auth' | 'missing' | 'unreachable' | 'not_git' | 'slow' | 'rejected' | 'broken';

/** A git operation failed. The message contains no secrets. */
export class GitFailed extends Error {
  readonly fault: GitFault;
  /** How long the remote asked us to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(fault: GitFault, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'GitFailed';
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether the same operation may succeed soon. */
export function isPassing(fault: GitFault): boolean {
  return fault === 'unreachable' || fault === 'not_git';
}

/** One path that differs between two trees. Modes are octal, as git writes them; `000000` where the path does not exist. */
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
  /** Given by the caller: with the same date the commit gets the same id, so a push can be repeated without harm. */
  at: Date;
}

/** The tree of a merge, and the paths with conflicts. */
export interface Merged {
  tree: string;
  conflicts: string[];
}

/** A repository on disk. Its git folder lies outside the work tree, so an agent that works on the files cannot change it. */
export interface Checkout {
  gitDir: string;
  workTree: string;
  /** Fetches a branch and returns its commit; undefined when the remote has no such branch. */
  fetch(branch: string): Promise<string | undefined>;
  /** Fetches one commit by its id; false when the remote does not hand it out. */
  fetchCommit(commit: string): Promise<boolean>;
  /** Writes the files of a commit into the work tree and makes the index equal to it. */
  checkout(commit: string): Promise<void>;
  /** Makes later snapshots faster. To be called when the files are in place and nobody has changed them yet. */
  remember(): Promise<void>;
  /**
   * Writes a tree of the files as they are now, without ignored ones, and returns its id; see `readWorkTree`.
   * @throws UnfitWorkTree
   */
  snapshot(): Promise<string>;
  treeOf(commit: string): Promise<string>;
  changes(from: string, to: string): Promise<Change[]>;
  /** The content of a file at a commit; undefined only when the commit has no such file. */
  readFile(commit: string, path: string): Promise<Buffer | 'too large' | undefined>;
  /** The contents of several blobs, by id. Those larger than `maxBytes` are left out. */
  readBlobs(oids: string[], maxBytes?: number): Promise<Map<string, Buffer>>;
  commit(commit: NewCommit): Promise<string>;
  /** The best common ancestor, for which more history is fetched as needed. Undefined when there is none. */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  /**
   * Merges two commits without touching the work tree. Files with conflicts hold git's conflict markers.
   * @throws GitFailed `broken` when they have no common ancestor
   */
  merge(ours: string, theirs: string): Promise<Merged>;
  isAncestor(ancestor: string, commit: string): Promise<boolean>;
  /**
   * Moves the remote branch to a commit, never by force. Succeeds when the remote has the commit, even if its answer got lost.
   * @throws GitFailed `rejected` when the remote refuses
   */
  push(commit: string, branch: string): Promise<void>;
  /** Replaces the token. Installation tokens expire after an hour, and a run may take longer. */
  renewToken(token: string | undefined): Promise<void>;
  /** Ends the processes that the engine keeps for it. The folders stay. */
  close(): Promise<void>;
}

/** The largest file that `readFile` returns. */
export const maxReadBytes = 1_000_000;

/** What the service needs from git. Both engines pass the same tests. */
export interface GitEngine {
  name: 'native' | 'isomorphic';
  /** Name and version, for people. */
  version(): Promise<string>;
  /** Branches and the commits they point to. @throws GitFailed */
  listBranches(remote: Remote, signal?: AbortSignal): Promise<Map<string, string>>;
  /** An empty repository in `gitDir` that fetches from the remote and checks out into `workTree`. */
  open(remote: Remote, folders: { gitDir: string; workTree: string }, signal?: AbortSignal): Promise<Checkout>;
}

/** The failure of an operation that reached its time limit. */
export function tooSlow({ limitSeconds = remoteSeconds }: Pick<Remote, 'limitSeconds'> = {}): GitFailed {
  return new GitFailed('slow', `git: the remote did not finish within ${limitSeconds} s`);
}

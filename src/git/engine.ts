import type { NextHop } from '../host/proxies.ts';

/**
 * A repository on a git host and the token for it. The token is sent to that origin only and never put into an argument
 * or a file.
 */
export interface Remote {
  url: string;
  /** The default branch, if the host was asked for it. */
  defaultBranch?: string | undefined;
  token?: string | undefined;
  /** When the token expires; undefined if it does not. */
  tokenEndsAt?: Date | undefined;
  /**
   * The project and the repository whose cache is used. Cached objects are available to them only. Without a scope nothing
   * is cached.
   */
  scope?: string | undefined;
  /** The address to connect to, as `host:port:address`. It has been checked, so the name is not resolved again. */
  resolved?: string | undefined;
  /** The proxy to connect through. It resolves the name of the host. */
  proxy?: NextHop | undefined;
  /** The file with the certificates to trust instead of the system's. Only for the installed git. */
  certificates?: string | undefined;
  /** How long a remote may send nothing before it counts as unreachable; 60 s by default. */
  patienceSeconds?: number | undefined;
  /** How long a response may take in total, even if bytes keep arriving; half an hour by default. */
  limitSeconds?: number | undefined;
  /** The largest pack to accept. Only for the installed git; by default a share of the free disk space. */
  maxBytes?: number | undefined;
  /** The largest response to accept. Only for git in JavaScript, which holds it in memory. */
  maxAnswerBytes?: number | undefined;
}

/** Seconds of silence to tolerate: a host may need this long to process a large push. */
export const silenceSeconds = 60;

/** A transfer that is slower than this for `patienceSeconds` fails. */
export const leastBytesPerSecond = 10_000;

/** Seconds for one transfer. The largest repositories take minutes; a slow remote delays a run no longer than this. */
export const remoteSeconds = 1800;

/**
 * What went wrong. `unreachable`, `slow` and `not_git` are temporary; `not_git` is a web page instead of git data,
 * which proxies send while a host is down. `rejected` means that the remote refused a push. `broken` is everything
 * else, such as damaged objects.
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

/** Returns whether the fault is temporary, so that the same operation may succeed soon. */
export function isTransientFault(fault: GitFault): boolean {
  return fault === 'unreachable' || fault === 'not_git';
}

/**
 * One path that differs between two trees. Modes are octal, as git writes them; a side without the path has `000000`.
 */
export interface Change {
  path: string;
  oldMode: string;
  newMode: string;
  oldOid: string;
  newOid: string;
}

/** A file to put into a tree. With the mode `000000` it is removed, if it is there. */
export interface FileInTree {
  path: string;
  mode: string;
  oid: string;
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
  /**
   * The commit's date, given by the caller: a repeated commit with the same date gets the same id, so repeating the
   * push is harmless.
   */
  at: Date;
}

/** A commit of the past. */
export interface PastCommit {
  id: string;
  /** None for the first commit of all. */
  parents: string[];
  message: string;
  /** When it was committed. */
  at: Date;
}

/** The tree of a merge, and the paths with conflicts. */
export interface Merged {
  tree: string;
  conflicts: string[];
}

/**
 * The files of a checkout whose contents are not in git. Trees have pointers in their place, and the host has the contents in
 * Git LFS.
 */
export interface LargeFiles {
  /** Returns whether this checkout made the pointer with this blob id, so that the host may lack its contents. */
  isNew(blob: string): boolean;
  /** Returns the contents for the blob id of a pointer; undefined if they are not here, or larger than `maxBytes`. */
  contentOf(blob: string, maxBytes: number): Promise<Buffer | undefined>;
  /** Notes the pointers of a commit that is on the host, so that files may get them. */
  know(commit: string): Promise<void>;
  /**
   * Makes sure that the host has the contents of all pointers among some changes, which lead to `tree`. Can be repeated. `ref`
   * is where they are going to be pushed.
   * @throws UploadRefused when the host refuses them
   */
  upload(tree: string, changes: Change[], ref: string): Promise<void>;
}

/** The submodules of the commit that is checked out. A run may move them to other commits of their own repositories. */
export interface MovableSubmodules {
  /**
   * Moves a submodule to a commit, a branch or a tag, and returns the commit. Later snapshots have it, and the work tree has its
   * files instead of those from before. `prepare` gets the folder with these files before they are put in place; from then on, no
   * process may work in the work tree.
   * @throws RunFailed `repository` that says why it cannot be moved; nothing has changed then
   */
  move(path: string, revision: string, prepare: (folder: string) => Promise<void>): Promise<string>;
  /**
   * Returns whether a commit was a branch or a tag of its repository when the submodule was moved to it; undefined if it was not
   * moved there.
   */
  isHead(path: string, commit: string): boolean | undefined;
}

/** A repository on disk. Its git folder lies outside of the work tree, where an agent cannot change it. */
export interface Checkout {
  gitDir: string;
  workTree: string;
  /** Undefined unless the settings ask for files in Git LFS. */
  largeFiles?: LargeFiles | undefined;
  /** Undefined unless the settings ask for submodules. */
  submodules?: MovableSubmodules | undefined;
  /** Fetches a branch and returns its commit; undefined when the remote has no such branch. */
  fetch(branch: string): Promise<string | undefined>;
  /**
   * Fetches the head of a pull request by its number and returns its commit, also from a fork; undefined when the remote does
   * not know it. What of it is new may have at most `maxBytes`. Undefined for an engine that cannot do this.
   */
  fetchPull?(number: number, maxBytes: number): Promise<string | undefined>;
  /** Fetches one commit by its id; returns false when the remote does not serve it. */
  fetchCommit(commit: string): Promise<boolean>;
  /**
   * Returns a commit of a fetched branch and the commits before it along first parents, newest first, at most `count`.
   * Fetches as much history as that takes, so the commits and their parents can be read. Undefined for an engine that cannot
   * do this.
   */
  history?(commit: string, count: number): Promise<PastCommit[]>;
  /** Returns the commits of the remote's branches and tags, by full name. Undefined for an engine that cannot do this. */
  refs?(): Promise<Map<string, string>>;
  /**
   * Limits the files that `checkout` and `export` write to these folders and the files beside the way to them (cone.ts). All
   * other files stay as they are in every tree that `snapshot` writes. Call it before the first checkout. Undefined for an
   * engine that cannot do this.
   */
  narrow?(folders: string[]): Promise<void>;
  /** Writes the files of a commit into the work tree and makes the index equal to it. */
  checkout(commit: string): Promise<void>;
  /**
   * Records the state of the files to make later snapshots faster. Call it after the checkout, before anybody changes a
   * file.
   */
  remember(): Promise<void>;
  /**
   * Writes a tree of the current files except ignored ones and returns its id; see `readWorkTree`.
   * @throws UnfitWorkTree
   */
  snapshot(): Promise<string>;
  treeOf(commit: string): Promise<string>;
  /** @throws GitFailed `broken` when the list of changes has more than `maxBytes` */
  changes(from: string, to: string, maxBytes?: number): Promise<Change[]>;
  /**
   * Returns the content of a file at a commit, or undefined when the commit has no such file. Never returns undefined
   * for a file that cannot be read.
   */
  readFile(commit: string, path: string): Promise<Buffer | 'too large' | undefined>;
  /**
   * Returns the names in a folder of a commit, in no particular order; none when the commit has no such folder. The root
   * is ''.
   */
  listFolder(commit: string, path: string): Promise<string[]>;
  /** Returns all files of a commit, by path. Folders have no entries. */
  files(commit: string): Promise<Map<string, { mode: string; oid: string }>>;
  /** Stores the contents of a file, and returns their id. No tree has them yet. */
  writeBlob(content: Buffer): Promise<string>;
  /** Writes a tree in which some files of another one are replaced, and returns its id. */
  replaceFiles(tree: string, files: FileInTree[]): Promise<string>;
  /**
   * Writes the files of a tree into an empty folder; in a narrow checkout, those inside, and those that the commit which is
   * checked out does not have. The work tree and the index of the checkout stay as they are.
   */
  export(tree: string, folder: string): Promise<void>;
  /**
   * Returns the paths that git ignores in a folder which began as an export of this tree.
   * @throws UnfitWorkTree
   */
  ignoredIn(folder: string, tree: string): Promise<string[]>;
  /** Returns the contents of several blobs, by id. Those larger than `maxBytes` are left out. */
  readBlobs(oids: string[], maxBytes?: number): Promise<Map<string, Buffer>>;
  commit(commit: NewCommit): Promise<string>;
  /**
   * Returns the best common ancestors of a commit and a merge of others: more than one if the two sides were merged into each
   * other crosswise, and none if they have no history in common. Fetches history until that is certain; returns undefined if
   * it would take too much of it.
   */
  mergeBases(commit: string, others: string[]): Promise<string[] | undefined>;
  /** Returns the commits that are in the history of `head` and not in that of `base`, at most `most`. Call `mergeBases` first, which fetches them. */
  commitsSince(base: string, head: string, most: number): Promise<string[]>;
  /** Returns the best common ancestor, or one of several; undefined if there is none. Fetches the history that this takes; see `bestBase`. */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  /**
   * Merges two commits without touching the work tree. Files with conflicts hold git's conflict markers.
   * @throws GitFailed `broken` when they have no common ancestor
   */
  merge(ours: string, theirs: string): Promise<Merged>;
  isAncestor(ancestor: string, commit: string): Promise<boolean>;
  /**
   * Moves the remote branch to a commit, never by force. Succeeds if the remote has the commit, even if its response
   * was lost.
   * @throws GitFailed `rejected` when the remote refuses
   */
  push(commit: string, branch: string): Promise<void>;
  /**
   * Pushes a commit to the ref of this name outside of the branches (see `asideRef`), so that the remote has its objects.
   * @throws GitFailed `rejected` when the remote refuses
   */
  pushAside(commit: string, name: string): Promise<void>;
  /** Deletes that ref from the remote, if it is there. */
  removeAside(name: string): Promise<void>;
  /** Replaces the token. Installation tokens expire after an hour, and a run may take longer. */
  renewToken(token: string | undefined): Promise<void>;
  /** Ends the engine's processes for this checkout. The folders stay. */
  close(): Promise<void>;
}

/** Returns a ref of our own. It is no branch, so people do not see it and workflows do not start for it. */
export function asideRef(name: string): string {
  return `refs/deckhand/${name}`;
}

/** The largest file that `readFile` returns. */
export const maxReadBytes = 1_000_000;

/** The git operations that the service needs. Both engines pass the same tests. */
export interface GitEngine {
  name: 'native' | 'isomorphic';
  /** Returns the name and version of the engine, to show to people. */
  version(): Promise<string>;
  /** Returns the branches and the commits they point to. @throws GitFailed */
  listBranches(remote: Remote, signal?: AbortSignal): Promise<Map<string, string>>;
  /** Creates an empty repository in `gitDir` that fetches from the remote and checks out into `workTree`. */
  open(remote: Remote, folders: { gitDir: string; workTree: string }, signal?: AbortSignal): Promise<Checkout>;
}

/** Returns the error for an operation that reached its time limit. */
export function tooSlow({ limitSeconds = remoteSeconds }: Pick<Remote, 'limitSeconds'> = {}): GitFailed {
  return new GitFailed('slow', `git: the remote did not finish within ${limitSeconds} s`);
}

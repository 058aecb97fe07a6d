import type { Change, Remote } from '../engine.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import type { ReadBefore } from '../work-tree/work-tree.ts';
import { type ObjectReader, objectReader } from './object-reader.ts';
import { type GitRun, git } from './run-git.ts';

/** One repository on disk: the way to run git in it, and the state kept between two operations. */
export class NativeRepository {
  readonly gitDir: string;
  readonly workTree: string;
  readonly signal: AbortSignal | undefined;
  readonly objects: ObjectReader;
  /** Replaced when the token is renewed. */
  remote: Remote;
  /** Branches fetched so far. A search for a common ancestor fetches more history of all of them. */
  readonly branches = new Set<string>();
  /** The files of the commit that is checked out. */
  base = new Map<string, TreeEntry>();
  readonly before: ReadBefore = new Map();
  /** Changes between two trees, by `<from> <to>`. */
  readonly changes = new Map<string, Change[]>();
  /** The last tree that was written, and the index entries it was written from. */
  lastSnapshot: { entries: string; tree: string } | undefined;

  constructor(remote: Remote, folders: { gitDir: string; workTree: string }, signal: AbortSignal | undefined) {
    this.remote = remote;
    this.gitDir = folders.gitDir;
    this.workTree = folders.workTree;
    this.signal = signal;
    this.objects = objectReader(folders.gitDir, signal);
  }

  /**
   * Runs git with the git folder but without the work tree, for every operation that an untrusted work tree must not
   * influence.
   */
  git(args: string[], options: GitRun = {}): Promise<Buffer> {
    return git([`--git-dir=${this.gitDir}`, ...args], { signal: this.signal, ...options });
  }

  gitInWorkTree(args: string[], options: GitRun = {}): Promise<Buffer> {
    return this.git([`--work-tree=${this.workTree}`, ...args], options);
  }
}

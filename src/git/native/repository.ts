import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitLimits, limitsIn } from '../attempts.ts';
import type { Cone } from '../cone.ts';
import { type Change, GitFailed, type Remote } from '../engine.ts';
import { allFiles, type TreeEntry } from '../work-tree/tree-files.ts';
import type { ReadBefore } from '../work-tree/work-tree.ts';
import { tooLarge } from './explain.ts';
import { type ObjectReader, objectReader } from './objects.ts';
import { type GitRun, git } from './run-git.ts';

/** One repository on disk: the way to run git in it, and the state kept between two operations. */
export class NativeRepository {
  readonly gitDir: string;
  readonly workTree: string;
  readonly signal: AbortSignal | undefined;
  readonly objects: ObjectReader;
  /** Replaced when the token is renewed. */
  remote: Remote;
  /** What was fetched so far, as refspecs. A search for a common ancestor fetches more history of all of them. */
  readonly fetched = new Set<string>();
  /** The files of the commit that is checked out. */
  base = new Map<string, TreeEntry>();
  /** Set for a narrow checkout. */
  cone: Cone | undefined;
  readonly before: ReadBefore = new Map();
  /** Changes between two trees, by `<from> <to>`. */
  readonly changes = new Map<string, Change[]>();
  /** The last tree that was written, and the index entries it was written from. */
  lastSnapshot: { entries: string; tree: string } | undefined;

  #listed: { tree: string; files: Map<string, TreeEntry> } | undefined;

  constructor(remote: Remote, folders: { gitDir: string; workTree: string }, signal: AbortSignal | undefined) {
    this.remote = remote;
    this.gitDir = folders.gitDir;
    this.workTree = folders.workTree;
    this.signal = signal;
    this.objects = objectReader(folders.gitDir, signal);
  }

  /** Returns the files of a commit or a tree. Those of the last tree are kept. Do not change the result. */
  async filesOf(commit: string): Promise<Map<string, TreeEntry>> {
    const tree = await this.objects.treeOf(commit);
    if (this.#listed?.tree !== tree) this.#listed = { tree, files: await allFiles(this.objects.folder, tree) };
    return this.#listed.files;
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

/** The first fetch gets the commit without its history. */
const firstDepth = '--depth=1';

/** Fetches a branch and returns its commit; undefined when the remote has no such branch. */
export function fetchBranch(repository: NativeRepository, branch: string): Promise<string | undefined> {
  return fetchSpec(repository, refspec(branch));
}

/** Fetches the head of a pull request; see `Checkout.fetchPull`. */
export function fetchPull(repository: NativeRepository, number: number, maxBytes: number): Promise<string | undefined> {
  return fetchSpec(repository, `+refs/pull/${number}/head:refs/remotes/pull/${number}`, maxBytes);
}

async function fetchSpec(repository: NativeRepository, spec: string, maxBytes?: number): Promise<string | undefined> {
  if (!(await fetchUnlessMissing(repository, spec, /couldn't find remote ref/, maxBytes))) return undefined;
  // Close the packs that the object reader has open: they may come from a damaged cache that was removed.
  repository.objects.forget();
  repository.fetched.add(spec);
  const [commit] = (await readFile(`${repository.gitDir}/FETCH_HEAD`, 'utf8')).split('\t');
  return commit;
}

/** Fetches one commit by its id; returns false when the remote does not serve it. */
export function fetchCommit(repository: NativeRepository, commit: string): Promise<boolean> {
  return fetchUnlessMissing(repository, commit, /not our ref|unadvertised object/);
}

/** Fetches that many more commits of history for everything fetched so far. */
export function deepen(repository: NativeRepository, commits: number): Promise<void> {
  return fetchSpecs(repository, `--deepen=${commits}`, [...repository.fetched]);
}

/** More commits than this of a history that was rewritten are not fetched. */
const maxRewritten = 1000;

/** Fetches what is below the oldest commits that we have of the history of a commit, also if no branch has them any more. */
export async function deepenBelow(repository: NativeRepository, commit: string): Promise<void> {
  const oldest = (await readFile(join(repository.gitDir, 'shallow'), 'utf8')).split('\n').filter((line) => line !== '');
  const history = await repository.git(['rev-list', commit]);
  const known = new Set(history.toString('utf8').split('\n'));
  const below = oldest.filter((each) => known.has(each));
  // git deepens only what a branch still has, so this is not relative.
  if (below.length > 0) await fetchSpecs(repository, `--depth=${maxRewritten}`, below);
}

/** Fetches; returns false when git's error matches `missing`, which means that the remote does not have the object. */
async function fetchUnlessMissing(
  repository: NativeRepository,
  spec: string,
  missing: RegExp,
  maxBytes?: number,
): Promise<boolean> {
  try {
    await fetchSpecs(repository, firstDepth, [spec], maxBytes);
    return true;
  } catch (error) {
    if (error instanceof GitFailed && missing.test(error.message)) return false;
    throw error;
  }
}

async function fetchSpecs(
  repository: NativeRepository,
  depth: string,
  specs: string[],
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { remote, gitDir } = repository;
  const limits = await limitsIn(gitDir);
  const fileBytes = Math.min(limits.fileBytes, remote.maxBytes ?? Number.POSITIVE_INFINITY, maxBytes);
  await fetchWithin(repository, [depth, '--', remote.url, ...specs], { ...limits, fileBytes });
}

/**
 * Fetches with at most these resources. What git received before it failed is removed, so that attempts do not add up.
 * @throws GitFailed with the fault `broken` and the limit, if what the remote sent did not fit into a file
 */
export async function fetchWithin(repository: NativeRepository, specs: string[], limits: GitLimits): Promise<void> {
  const { remote, gitDir } = repository;
  try {
    await repository.gitInWorkTree(['fetch', '--quiet', '--no-tags', ...specs], { remote, limits });
  } catch (error) {
    const received = await removeReceived(join(gitDir, 'objects/pack'));
    throw error instanceof GitFailed && received >= limits.fileBytes ? tooLarge() : error;
  }
}

/**
 * Removes the files that git was writing when it failed, and returns the size of the largest. At the limit git is killed and cannot
 * say why.
 */
async function removeReceived(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.startsWith('tmp_')).map((name) => join(folder, name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  await Promise.all(files.map((file) => rm(file, { force: true })));
  return Math.max(0, ...sizes);
}

function refspec(branch: string): string {
  return `+refs/heads/${branch}:refs/remotes/origin/${branch}`;
}

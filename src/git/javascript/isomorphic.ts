import fs from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import git, { type MergeDriverCallback } from 'isomorphic-git';
import { merge as mergeLines } from 'node-diff3';
import {
  type Checkout,
  type GitEngine,
  GitFailed,
  type Merged,
  maxReadBytes,
  type NewCommit,
  type Remote,
} from '../engine.ts';
import { findMergeBase, type History, requireMergeBase } from '../merge-base.ts';
import { findFile, namesIn } from '../work-tree/tree-files.ts';
import { rememberWorkTree } from '../work-tree/work-tree.ts';
import { deepen, fetchBranch, fetchCommit, IsomorphicRepository, listRefs, remoteHead } from './repository.ts';
import { changesBetween, checkoutCommit, filesOf, ignoredIn, replaceFiles, snapshot } from './snapshot.ts';

const nobody = { name: 'merge', email: 'merge@localhost', timestamp: 0, timezoneOffset: 0 };

/** Merges two commits. Files with conflicts contain both sides between git's conflict markers. */
export async function mergeTrees(gitdir: string, ours: string, theirs: string): Promise<Merged> {
  const conflicts: string[] = [];
  const mergeDriver: MergeDriverCallback = ({ contents, path }) => {
    const [base = [], mine = [], other = []] = contents.map((text) => text.split('\n'));
    const { conflict, result } = mergeLines(mine, base, other, { label: { a: ours, b: theirs } });
    if (conflict) conflicts.push(path);
    return { cleanMerge: true, mergedText: result.join('\n') };
  };
  // The library merges refs only, so both commits get a temporary ref.
  const sides = { ours: 'refs/deckhand/ours', theirs: 'refs/deckhand/theirs' };
  await git.writeRef({ fs, gitdir, ref: sides.ours, value: ours, force: true });
  await git.writeRef({ fs, gitdir, ref: sides.theirs, value: theirs, force: true });
  const how = { fastForward: false, noUpdateBranch: true, author: nobody, committer: nobody, mergeDriver };
  const { tree } = await git.merge({ fs, gitdir, ...sides, ...how });
  if (tree === undefined) throw new Error('isomorphic-git returned no tree for the merge');
  return { tree, conflicts };
}

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

/** Writes the files of a tree into an empty folder; see `Checkout.export`. */
export async function exportTree(repository: IsomorphicRepository, tree: string, folder: string): Promise<void> {
  const files = [...(await repository.run(() => filesOf(repository, tree)))];
  for (const [path, { mode }] of files) {
    if (path.split('/').some((name) => ['', '.', '..', '.git'].includes(name.toLowerCase())))
      throw new GitFailed('broken', `git: the tree contains the path ${path}, which cannot be written`);
    await mkdir(join(folder, mode === '160000' ? path : dirname(path)), { recursive: true });
  }
  const contents = async (oid: string) => (await git.readBlob({ ...repository.local, oid })).blob;
  // Links come last, so that no file is written through one, whatever a damaged tree contains.
  for (const [path, { mode, oid }] of files)
    if (mode !== '160000' && mode !== '120000')
      await writeFile(join(folder, path), await contents(oid), { flag: 'wx', mode: mode === '100755' ? 0o755 : 0o644 });
  for (const [path, { mode, oid }] of files)
    if (mode === '120000') await symlink(Buffer.from(await contents(oid)), join(folder, path));
}

/**
 * Implements git in JavaScript, for machines without git. It is slower than the installed git and needs more memory.
 * The service runs it in a separate process (isomorphic-process.ts).
 */
export function isomorphicGit(): GitEngine {
  return {
    name: 'isomorphic',
    version: async () => `isomorphic-git ${git.version()}`,
    listBranches: async (remote, signal) => {
      const refs = await listRefs(remote, signal, 'refs/heads/');
      return new Map(refs.map(({ ref, oid }) => [ref.replace('refs/heads/', ''), oid]));
    },
    open: async (remote, folders, signal) => {
      await initialize(remote, folders);
      return checkoutOf(new IsomorphicRepository(remote, folders, signal));
    },
  };
}

async function initialize({ url }: Remote, { gitDir, workTree }: { gitDir: string; workTree: string }): Promise<void> {
  await mkdir(gitDir, { recursive: true, mode: 0o755 });
  await mkdir(workTree, { recursive: true, mode: 0o755 });
  await git.init({ fs, dir: workTree, gitdir: gitDir });
  await git.addRemote({ fs, gitdir: gitDir, remote: 'origin', url });
}

function checkoutOf(repository: IsomorphicRepository): Checkout {
  const { gitDir, workTree } = repository;
  return {
    gitDir,
    workTree,
    fetch: (branch) => fetchBranch(repository, branch),
    fetchCommit: (commit) => fetchCommit(repository, commit),
    checkout: (commit) => checkoutCommit(repository, commit),
    remember: () => rememberWorkTree(repository),
    snapshot: () => snapshot(repository),
    treeOf: (commit) => repository.treeOf(commit),
    changes: (from, to) => repository.run(() => changesBetween(repository, from, to)),
    readFile: (commit, path) => repository.run(() => readFile(repository, commit, path)),
    listFolder: (commit, path) =>
      repository.run(async () => namesIn(folderOf(repository), await repository.treeOf(commit), path)),
    files: (commit) => repository.run(() => filesOf(repository, commit)),
    replaceFiles: (tree, files) => repository.run(() => replaceFiles(repository, tree, files)),
    export: (tree, folder) => repository.run(() => exportTree(repository, tree, folder)),
    ignoredIn: (folder, tree) => ignoredIn(repository, folder, tree),
    readBlobs: (oids, maxBytes) => repository.run(() => readBlobs(repository, oids, maxBytes)),
    commit: (commit) => writeCommit(repository, commit),
    mergeBase: (a, b) => findMergeBase(historyOf(repository, a, b)),
    merge: (ours, theirs) => mergeCommits(repository, ours, theirs),
    isAncestor: (ancestor, commit) => isAncestor(repository, ancestor, commit),
    push: (commit, branch) => pushCommit(repository, commit, branch),
    renewToken: async (token) => {
      repository.remote = { ...repository.remote, token };
    },
    close: async () => {},
  };
}

function folderOf(repository: IsomorphicRepository) {
  return async (oid: string) => {
    const { tree } = await git.readTree({ ...repository.local, oid });
    return new Map(tree.map((each) => [each.path, { mode: each.mode.replace(/^0/, ''), oid: each.oid }]));
  };
}

async function readFile(repository: IsomorphicRepository, commit: string, path: string) {
  const found = await findFile(folderOf(repository), await repository.treeOf(commit), path);
  if (found === undefined) return undefined;
  const { blob } = await git.readBlob({ ...repository.local, oid: found.oid });
  return blob.length > maxReadBytes ? 'too large' : Buffer.from(blob);
}

async function readBlobs(repository: IsomorphicRepository, oids: string[], maxBytes = Number.POSITIVE_INFINITY) {
  const blobs = new Map<string, Buffer>();
  for (const oid of new Set(oids)) {
    const { blob } = await git.readBlob({ ...repository.local, oid });
    if (blob.length <= maxBytes) blobs.set(oid, Buffer.from(blob));
  }
  return blobs;
}

import fs from 'node:fs';
import { mkdir } from 'node:fs/promises';
import git from 'isomorphic-git';
import { type Checkout, type GitEngine, maxReadBytes, type Remote } from '../engine.ts';
import { findMergeBase } from '../merge-base.ts';
import { findFile, namesIn } from '../work-tree/tree-files.ts';
import { rememberWorkTree } from '../work-tree/work-tree.ts';
import { changesBetween, filesOf } from './changes.ts';
import { historyOf, isAncestor, mergeCommits, pushCommit, writeCommit } from './commits.ts';
import { exportTree } from './export.ts';
import { fetchBranch, fetchCommit, listRefs } from './fetch.ts';
import { IsomorphicRepository } from './repository.ts';
import { checkoutCommit, ignoredIn, replaceFiles, snapshot } from './snapshot.ts';

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
  for (const oid of oids) {
    const { blob } = await git.readBlob({ ...repository.local, oid });
    if (blob.length <= maxBytes) blobs.set(oid, Buffer.from(blob));
  }
  return blobs;
}

import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { type Checkout, type GitEngine, maxReadBytes } from '../engine.ts';
import { findMergeBase } from '../merge-base.ts';
import { allFiles, findFile, namesIn } from '../work-tree/tree-files.ts';
import { rememberWorkTree } from '../work-tree/work-tree.ts';
import { changesBetween } from './changes.ts';
import { historyOf, isAncestor, mergeCommits, pushCommit, writeCommit } from './commits.ts';
import { lines } from './explain.ts';
import { exportTree } from './export.ts';
import { fetchBranch, fetchCommit } from './fetch.ts';
import { replaceFiles } from './replace-files.ts';
import { NativeRepository } from './repository.ts';
import { git } from './run-git.ts';
import { checkoutCommit, ignoredIn, snapshot } from './snapshot.ts';

/** Limits for listing branches: enough for about 100,000 of them. */
const listing = { maxBytes: 8_000_000, room: { memoryBytes: 256_000_000, fileBytes: 0 } };

/** Runs the installed git, isolated from every configuration but our own. */
export function nativeGit(): GitEngine {
  return {
    name: 'native',
    version: async () => (await git(['--version'], {})).toString('utf8').trim(),
    listBranches: async (remote, signal) => {
      const out = await git(['ls-remote', '--heads', '--', remote.url], { remote, signal, ...listing });
      return new Map(
        lines(out.toString('utf8')).map((line) => {
          const [sha = '', ref = ''] = line.split('\t');
          return [ref.replace('refs/heads/', ''), sha];
        }),
      );
    },
    open: async (remote, folders, signal) => {
      await initialize(folders, signal);
      return checkoutOf(new NativeRepository(remote, folders, signal));
    },
  };
}

async function initialize(folders: { gitDir: string; workTree: string }, signal: AbortSignal | undefined) {
  const { gitDir, workTree } = folders;
  await mkdir(gitDir, { recursive: true, mode: 0o755 });
  await mkdir(workTree, { recursive: true, mode: 0o755 });
  await git(['init', '--quiet', '--bare', gitDir], { signal });
  // The sandbox mounts the folder as .git, and `git status` should work there.
  await appendFile(`${gitDir}/config`, '[core]\n\tbare = false\n');
  // Takes precedence over every .gitattributes file, so that no filter or conversion changes file contents.
  await mkdir(`${gitDir}/info`, { recursive: true });
  await writeFile(`${gitDir}/info/attributes`, '* -text !eol -ident -filter -working-tree-encoding\n');
}

function checkoutOf(repository: NativeRepository): Checkout {
  const { gitDir, workTree, objects } = repository;
  return {
    gitDir,
    workTree,
    fetch: (branch) => fetchBranch(repository, branch),
    fetchCommit: (commit) => fetchCommit(repository, commit),
    checkout: (commit) => checkoutCommit(repository, commit),
    remember: () => rememberWorkTree(repository),
    snapshot: () => snapshot(repository),
    treeOf: objects.treeOf,
    changes: (from, to) => changesBetween(repository, from, to),
    readFile: (commit, path) => readFile(repository, commit, path),
    listFolder: async (commit, path) => namesIn(objects.folder, await objects.treeOf(commit), path),
    files: async (commit) => allFiles(objects.folder, await objects.treeOf(commit)),
    replaceFiles: (tree, files) => replaceFiles(repository, tree, files),
    export: (tree, folder) => exportTree(repository, tree, folder),
    ignoredIn: (folder, tree) => ignoredIn(repository, folder, tree),
    readBlobs: (oids, maxBytes) => readBlobs(repository, oids, maxBytes),
    commit: (commit) => writeCommit(repository, commit),
    mergeBase: (a, b) => findMergeBase(historyOf(repository, a, b)),
    merge: (ours, theirs) => mergeCommits(repository, ours, theirs),
    isAncestor: (ancestor, commit) => isAncestor(repository, ancestor, commit),
    push: (commit, branch) => pushCommit(repository, commit, branch),
    renewToken: async (token) => {
      repository.remote = { ...repository.remote, token };
    },
    close: async () => objects.close(),
  };
}

async function readFile({ objects }: NativeRepository, commit: string, path: string) {
  const found = await findFile(objects.folder, await objects.treeOf(commit), path);
  if (found === undefined) return undefined;
  return (await objects.size(found.oid)) > maxReadBytes ? 'too large' : objects.blob(found.oid);
}

async function readBlobs({ objects }: NativeRepository, oids: string[], maxBytes = Number.POSITIVE_INFINITY) {
  const read = async (oid: string) => ((await objects.size(oid)) > maxBytes ? undefined : objects.blob(oid));
  const contents = await Promise.all(oids.map(async (oid) => [oid, await read(oid)] as const));
  return new Map(contents.filter((each): each is [string, Buffer] => each[1] !== undefined));
}

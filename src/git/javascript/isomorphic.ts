import fs from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import git, { type MergeDriverCallback, type WalkerEntry } from 'isomorphic-git';
import { merge as mergeLines } from 'node-diff3';
import {
  asideRef,
  type Change,
  type Checkout,
  type FileInTree,
  type GitEngine,
  GitFailed,
  type Merged,
  maxReadBytes,
  type NewCommit,
  type Remote,
} from '../engine.ts';
import { bestBase, certainBases, type History, requireMergeBase } from '../merge-base.ts';
import { ignoredPaths, isomorphicIgnoreRules } from '../work-tree/ignored.ts';
import { findFile, namesIn, type TreeEntry } from '../work-tree/tree-files.ts';
import { readWorkTree, rememberWorkTree } from '../work-tree/work-tree.ts';
import { deepen, fetchBranch, fetchCommit, IsomorphicRepository, listRefs, remoteHead } from './repository.ts';

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

export function historyOf(repository: IsomorphicRepository, commit: string, others: string[]): History {
  const ancestorsOf = async (tips: string[]) => {
    const logs = tips.map((ref) => git.log({ ...repository.local, ref }));
    return new Set((await Promise.all(logs)).flat().map(({ oid }) => oid));
  };
  return {
    search: async () => {
      const searched = others.map((other) => git.findMergeBase({ ...repository.local, oids: [commit, other] }));
      const all = [...new Set((await Promise.all(searched).catch(() => [])).flat() as string[])];
      const isOlder = await Promise.all(
        all.map(async (each) =>
          (await Promise.all(all.map((other) => other !== each && isAncestor(repository, each, other)))).some(Boolean),
        ),
      );
      return all.filter((_, i) => !isOlder[i]);
    },
    gitDir: repository.gitDir,
    since: async (ancestors, most) => {
      const known = await ancestorsOf(ancestors);
      return [...(await ancestorsOf([commit, ...others]))].filter((each) => !known.has(each)).slice(0, most);
    },
    deepen: (commits) => deepen(repository, commits),
  };
}

/** Merges two commits; see `Checkout.merge`. */
export async function mergeCommits(repository: IsomorphicRepository, ours: string, theirs: string): Promise<Merged> {
  await requireMergeBase(historyOf(repository, ours, [theirs]));
  return repository.run(() => mergeTrees(repository.gitDir, ours, theirs));
}

/** Returns whether a commit is an ancestor of another; false also for a commit that is not in the repository. */
export async function isAncestor(repository: IsomorphicRepository, ancestor: string, commit: string): Promise<boolean> {
  const isThere = () => git.readCommit({ ...repository.local, oid: commit }).then(() => true);
  if (ancestor === commit) return isThere().catch(() => false);
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

/** The local ref of what is pushed outside of the branches. The library pushes refs only. */
const localAside = 'refs/deckhand/aside';

/** Pushes a commit to a ref outside of the branches; see `Checkout.pushAside`. */
async function pushAside(repository: IsomorphicRepository, commit: string, name: string): Promise<void> {
  await git.writeRef({ ...repository.local, ref: localAside, value: commit, force: true });
  const what = { ref: localAside, remoteRef: asideRef(name), force: true };
  await repository.run(() => git.push({ ...repository.withRemote, ...what }));
}

/** Deletes a ref outside of the branches; see `Checkout.removeAside`. */
async function removeAside(repository: IsomorphicRepository, name: string): Promise<void> {
  const { remote, signal } = repository;
  const [found] = (await listRefs(remote, signal, asideRef(name))).filter(({ ref }) => ref === asideRef(name));
  if (found === undefined) return;
  // The library wants a local ref for a deletion, too. It does not read it.
  await git.writeRef({ ...repository.local, ref: localAside, value: found.oid, force: true });
  const what = { ref: localAside, remoteRef: asideRef(name), delete: true };
  await repository.run(() => git.push({ ...repository.withRemote, ...what }));
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
    changes: (from, to, maxBytes) => repository.run(() => changesBetween(repository, from, to, maxBytes)),
    readFile: (commit, path) => repository.run(() => readFile(repository, commit, path)),
    listFolder: (commit, path) =>
      repository.run(async () => namesIn(folderOf(repository), await repository.treeOf(commit), path)),
    files: (commit) => repository.run(() => filesOf(repository, commit)),
    writeBlob: (blob) => repository.run(() => git.writeBlob({ fs, gitdir: gitDir, blob })),
    replaceFiles: (tree, files) => repository.run(() => replaceFiles(repository, tree, files)),
    export: (tree, folder) => repository.run(() => exportTree(repository, tree, folder)),
    ignoredIn: (folder, tree) => ignoredIn(repository, folder, tree),
    readBlobs: (oids, maxBytes) => repository.run(() => readBlobs(repository, oids, maxBytes)),
    commit: (commit) => writeCommit(repository, commit),
    mergeBases: (commit, others) => certainBases(historyOf(repository, commit, others)),
    commitsSince: (base, head, most) => historyOf(repository, head, []).since([base], most),
    mergeBase: (a, b) => bestBase(historyOf(repository, a, [b])),
    merge: (ours, theirs) => mergeCommits(repository, ours, theirs),
    isAncestor: (ancestor, commit) => isAncestor(repository, ancestor, commit),
    push: (commit, branch) => pushCommit(repository, commit, branch),
    pushAside: (commit, name) => pushAside(repository, commit, name),
    removeAside: (name) => removeAside(repository, name),
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

/** The entry for a side on which the file does not exist. */
const nothing: TreeEntry = { mode: '000000', oid: '0'.repeat(40) };

/** Returns the changed paths between two commits or trees. */
async function changesBetween(
  repository: IsomorphicRepository,
  from: string,
  to: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Change[]> {
  const changes: Change[] = [];
  // As in git's raw format, each has two modes and two ids.
  let bytes = 0;
  await git.walk({
    ...repository.local,
    trees: [git.TREE({ ref: from }), git.TREE({ ref: to })],
    map: async (path, [before, after]) => {
      // The walk does not enter a folder whose object id is the same on both sides: nothing in it changed.
      if (await isEqual(before, after)) return null;
      const [old, now] = [await fileOf(before), await fileOf(after)];
      bytes += path.length + 100;
      if (bytes > maxBytes) throw new GitFailed('broken', `git: its output is larger than ${maxBytes / 1e6} MB`);
      if (old !== nothing || now !== nothing)
        changes.push({ path, oldMode: old.mode, newMode: now.mode, oldOid: old.oid, newOid: now.oid });
      return path;
    },
  });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns all files of a commit, by path. @throws GitFailed `broken` for a file name that is not UTF-8 */
async function filesOf(repository: IsomorphicRepository, commit: string): Promise<Map<string, TreeEntry>> {
  const files = new Map<string, TreeEntry>();
  await git.walk({
    ...repository.local,
    trees: [git.TREE({ ref: commit })],
    map: async (path, [entry]) => {
      // The library replaces bytes that are not UTF-8 while decoding a name, so the next commit would rename the file.
      if (path.includes('\uFFFD'))
        throw new GitFailed(
          'broken',
          `git: the file name ${path} is not UTF-8, which git in JavaScript cannot keep; install git`,
        );
      const file = await fileOf(entry);
      if (file !== nothing) files.set(path, file);
      return path;
    },
  });
  return files;
}

type Entry = WalkerEntry | null | undefined;

async function isEqual(a: Entry, b: Entry): Promise<boolean> {
  return (await a?.oid()) === (await b?.oid()) && (await a?.mode()) === (await b?.mode());
}

/** Returns a file as a tree entry, or `nothing` for a folder or a missing file. */
async function fileOf(entry: Entry): Promise<TreeEntry> {
  if (!entry || (await entry.type()) === 'tree') return nothing;
  return { mode: (await entry.mode()).toString(8).padStart(6, '0'), oid: (await entry.oid()) ?? nothing.oid };
}

/** Checks out a commit; see `Checkout.checkout`. */
async function checkoutCommit(repository: IsomorphicRepository, commit: string): Promise<void> {
  await repository.run(async () => {
    await git.checkout({ ...repository.local, ref: commit, force: true });
    repository.base = await filesOf(repository, commit);
  });
}

/** Takes a snapshot of the work tree; see `Checkout.snapshot`. */
async function snapshot(repository: IsomorphicRepository): Promise<string> {
  const { gitDir, workTree, base, before, signal } = repository;
  const ignored = isomorphicIgnoreRules(gitDir, workTree);
  try {
    const found = await readWorkTree({ workTree, gitDir, base, isIgnored: ignored.ask, before, signal });
    return await writeTree(repository, nested(found));
  } finally {
    ignored.close();
  }
}

/** Lists what git ignores in a folder; see `Checkout.ignoredIn`. */
async function ignoredIn(repository: IsomorphicRepository, folder: string, tree: string): Promise<string[]> {
  const base = await repository.run(() => filesOf(repository, tree));
  const ignored = isomorphicIgnoreRules(repository.gitDir, folder);
  try {
    return await ignoredPaths({ workTree: folder, base, isIgnored: ignored.ask, signal: repository.signal });
  } finally {
    ignored.close();
  }
}

/** Writes a tree with some files replaced; see `Checkout.replaceFiles`. */
async function replaceFiles(repository: IsomorphicRepository, tree: string, replaced: FileInTree[]): Promise<string> {
  const files = await filesOf(repository, tree);
  for (const { path } of replaced) files.delete(path);
  for (const { path, mode, oid } of replaced) if (mode !== '000000') files.set(path, { mode, oid });
  return writeTree(repository, nested(files));
}

type Folder = Map<string, Folder | TreeEntry>;

/** Converts a flat map of paths into a tree of folders. */
function nested(files: Map<string, TreeEntry>): Folder {
  const root: Folder = new Map();
  for (const [path, entry] of files) {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    parts.reduce(folderIn, root).set(name, entry);
  }
  return root;
}

function folderIn(folder: Folder, name: string): Folder {
  const known = folder.get(name);
  if (known instanceof Map) return known;
  const made: Folder = new Map();
  folder.set(name, made);
  return made;
}

async function writeTree(repository: IsomorphicRepository, folder: Folder): Promise<string> {
  const tree = [];
  for (const [path, item] of folder) {
    if (item instanceof Map)
      tree.push({ path, mode: '040000', type: 'tree' as const, oid: await writeTree(repository, item) });
    else tree.push({ path, ...item, type: item.mode === '160000' ? ('commit' as const) : ('blob' as const) });
  }
  return git.writeTree({ ...repository.local, tree });
}

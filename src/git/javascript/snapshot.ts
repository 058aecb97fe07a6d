import git, { type WalkerEntry } from 'isomorphic-git';
import { type Change, type FileInTree, GitFailed } from '../engine.ts';
import { ignoredPaths, isomorphicIgnoreRules } from '../work-tree/ignored.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import { readWorkTree } from '../work-tree/work-tree.ts';
import type { IsomorphicRepository } from './repository.ts';

/** The entry for a side on which the file does not exist. */
const nothing: TreeEntry = { mode: '000000', oid: '0'.repeat(40) };

/** Returns the changed paths between two commits or trees. */
export async function changesBetween(repository: IsomorphicRepository, from: string, to: string): Promise<Change[]> {
  const changes: Change[] = [];
  await git.walk({
    ...repository.local,
    trees: [git.TREE({ ref: from }), git.TREE({ ref: to })],
    map: async (path, [before, after]) => {
      // The walk does not enter a folder whose object id is the same on both sides: nothing in it changed.
      if (await isEqual(before, after)) return null;
      const [old, now] = [await fileOf(before), await fileOf(after)];
      if (old !== nothing || now !== nothing)
        changes.push({ path, oldMode: old.mode, newMode: now.mode, oldOid: old.oid, newOid: now.oid });
      return path;
    },
  });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns all files of a commit, by path. @throws GitFailed `broken` for a file name that is not UTF-8 */
export async function filesOf(repository: IsomorphicRepository, commit: string): Promise<Map<string, TreeEntry>> {
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
export async function checkoutCommit(repository: IsomorphicRepository, commit: string): Promise<void> {
  await repository.run(async () => {
    await git.checkout({ ...repository.local, ref: commit, force: true });
    repository.base = await filesOf(repository, commit);
  });
}

/** Takes a snapshot of the work tree; see `Checkout.snapshot`. */
export async function snapshot(repository: IsomorphicRepository): Promise<string> {
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
export async function ignoredIn(repository: IsomorphicRepository, folder: string, tree: string): Promise<string[]> {
  const base = await repository.run(() => filesOf(repository, tree));
  const ignored = isomorphicIgnoreRules(repository.gitDir, folder);
  try {
    return await ignoredPaths({ workTree: folder, base, isIgnored: ignored.ask, signal: repository.signal });
  } finally {
    ignored.close();
  }
}

/** Writes a tree with some files replaced; see `Checkout.replaceFiles`. */
export async function replaceFiles(
  repository: IsomorphicRepository,
  tree: string,
  replaced: FileInTree[],
): Promise<string> {
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

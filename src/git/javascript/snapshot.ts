import git from 'isomorphic-git';
import type { FileInTree } from '../engine.ts';
import { isomorphicIgnoreRules } from '../work-tree/ignore-rules.ts';
import { ignoredPaths } from '../work-tree/ignored.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import { readWorkTree } from '../work-tree/work-tree.ts';
import { filesOf } from './changes.ts';
import type { IsomorphicRepository } from './repository.ts';

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

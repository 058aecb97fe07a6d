import { copyFile } from 'node:fs/promises';
import { gitIgnoreRules, ignoredPaths } from '../work-tree/ignored.ts';
import { allFiles, inPortions, type TreeEntry } from '../work-tree/tree-files.ts';
import { readWorkTree } from '../work-tree/work-tree.ts';
import type { NativeRepository } from './repository.ts';

/**
 * By default git silently drops names that are unsafe on macOS or Windows. Keep them here: the scan before the push
 * refuses them by name.
 */
export const everyName = ['-c', 'core.protectHFS=false', '-c', 'core.protectNTFS=false'];

/** Checks out a commit; see `Checkout.checkout`. */
export async function checkoutCommit(repository: NativeRepository, commit: string): Promise<void> {
  const { objects } = repository;
  // Lists the files before any is written, because this fails for a commit with too many of them.
  const files = await allFiles(objects.folder, await objects.treeOf(commit));
  await repository.gitInWorkTree(['checkout', '--quiet', '--force', '--detach', commit]);
  repository.base = files;
  repository.lastSnapshot = undefined;
}

/** Takes a snapshot of the work tree; see `Checkout.snapshot`. */
export async function snapshot(repository: NativeRepository): Promise<string> {
  const { gitDir, workTree, base, before, signal } = repository;
  const ignored = gitIgnoreRules(gitDir, workTree);
  try {
    const found = await readWorkTree({ workTree, gitDir, base, isIgnored: ignored.ask, before, signal });
    return await writeTree(repository, await indexEntries(base, found));
  } finally {
    ignored.close();
  }
}

/** Lists what git ignores in a folder; see `Checkout.ignoredIn`. */
export async function ignoredIn(
  { gitDir, objects, signal }: NativeRepository,
  folder: string,
  tree: string,
): Promise<string[]> {
  const base = await allFiles(objects.folder, tree);
  const ignored = gitIgnoreRules(gitDir, folder);
  try {
    return await ignoredPaths({ workTree: folder, base, isIgnored: ignored.ask, signal });
  } finally {
    ignored.close();
  }
}

/** Returns the differences from the commit as input for `git update-index --index-info`. */
async function indexEntries(base: Map<string, TreeEntry>, found: Map<string, TreeEntry>): Promise<string> {
  const entries: string[] = [];
  await inPortions(base.keys(), (path) => {
    if (!found.has(path)) entries.push(`0 ${'0'.repeat(40)}\t${path}\0`);
  });
  await inPortions(found, ([path, { mode, oid }]) => {
    const old = base.get(path);
    if (old?.mode !== mode || old.oid !== oid) entries.push(`${mode} ${oid}\t${path}\0`);
  });
  return entries.join('');
}

/**
 * Writes the tree from a copy of the index that the checkout wrote, so that git never reads the work tree. Files whose
 * names are not UTF-8 have no entries and remain unchanged.
 */
async function writeTree(repository: NativeRepository, entries: string): Promise<string> {
  const { gitDir, lastSnapshot } = repository;
  if (lastSnapshot?.entries === entries) return lastSnapshot.tree;
  const env = { GIT_INDEX_FILE: `${gitDir}/snapshot.index` };
  await copyFile(`${gitDir}/index`, env.GIT_INDEX_FILE);
  const update = [...everyName, 'update-index', '-z', '--add', '--replace', '--index-info'];
  if (entries !== '') await repository.git(update, { env, input: entries });
  const tree = (await repository.git(['write-tree'], { env })).toString('utf8').trim();
  repository.lastSnapshot = { entries, tree };
  return tree;
}

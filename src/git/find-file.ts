import type { TreeEntry } from './work-tree.ts';

export const folderMode = '40000';

/**
 * The file at a path below a tree, folder by folder; undefined when there is none. What cannot be read is thrown by
 * `folder`, so it is never taken for a file that is not there.
 */
export async function findFile(
  folder: (tree: string) => Promise<Map<string, TreeEntry>>,
  tree: string,
  path: string,
): Promise<TreeEntry | undefined> {
  let found: TreeEntry = { mode: folderMode, oid: tree };
  for (const part of path.split('/')) {
    const inside = found.mode === folderMode ? (await folder(found.oid)).get(part) : undefined;
    if (inside === undefined) return undefined;
    found = inside;
  }
  return found.mode === folderMode || found.mode === '160000' ? undefined : found;
}

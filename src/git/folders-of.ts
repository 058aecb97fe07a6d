import { inPortions } from './portions.ts';
import type { TreeEntry } from './work-tree/tree-files.ts';

/** Cached for each checked-out commit, because computing the folders of half a million paths takes a second. */
const foldersByBase = new WeakMap<Map<string, TreeEntry>, Set<string>>();

/** Returns all folders that contain tracked files. */
export async function foldersOf(base: Map<string, TreeEntry>): Promise<Set<string>> {
  const known = foldersByBase.get(base);
  if (known !== undefined) return known;
  const folders = new Set<string>();
  await inPortions(base.keys(), (path) => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      // The parents of a known folder have been added already.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  });
  foldersByBase.set(base, folders);
  return folders;
}

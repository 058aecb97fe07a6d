import { inPortions } from './portions.ts';
import type { TreeEntry } from './work-tree/tree-files.ts';

/** Remembered for each checked-out commit, because half a million paths take a second. */
const foldersByBase = new WeakMap<Map<string, TreeEntry>, Set<string>>();

/** All folders that contain files of the repository. */
export async function foldersOf(base: Map<string, TreeEntry>): Promise<Set<string>> {
  const known = foldersByBase.get(base);
  if (known !== undefined) return known;
  const folders = new Set<string>();
  await inPortions(base.keys(), (path) => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      // Its parents have been added with it.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  });
  foldersByBase.set(base, folders);
  return folders;
}

import { inPortions } from './portions.ts';
import type { TreeEntry } from './work-tree/work-tree.ts';

/** Known for each commit that was checked out: half a million paths take a second. */
const foldersByBase = new WeakMap<Map<string, TreeEntry>, Set<string>>();

/** All folders in which the repository has files. */
export async function foldersOf(base: Map<string, TreeEntry>): Promise<Set<string>> {
  const known = foldersByBase.get(base);
  if (known !== undefined) return known;
  const folders = new Set<string>();
  await inPortions(base.keys(), (path) => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      // Then those above it are there too.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  });
  foldersByBase.set(base, folders);
  return folders;
}

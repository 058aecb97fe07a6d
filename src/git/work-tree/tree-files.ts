import { GitFailed } from '../engine.ts';
import { inPortions } from '../portions.ts';
import type { TreeEntry } from './work-tree.ts';

const folderMode = '40000';
/** More than the largest that people work in; what is known of so many takes about 200 MB here. */
const maxFiles = 500_000;
/** All paths together; a dozen objects can make long ones of all files. */
const maxPathChars = 64_000_000;
/** One after the other each would take as long as the way to git and back. */
const foldersAtOnce = 64;

/** What stands in a folder, by name; throws for a folder that cannot be read. */
type Folder = (tree: string) => Promise<Map<string, TreeEntry>>;

/**
 * The file at a path below a tree, folder by folder; undefined when there is none. What cannot be read is thrown by
 * `folder`, so it is never taken for a file that is not there.
 */
export async function findFile(folder: Folder, tree: string, path: string): Promise<TreeEntry | undefined> {
  let found: TreeEntry = { mode: folderMode, oid: tree };
  for (const part of path.split('/')) {
    const inside = found.mode === folderMode ? (await folder(found.oid)).get(part) : undefined;
    if (inside === undefined) return undefined;
    found = inside;
  }
  return found.mode === folderMode || found.mode === '160000' ? undefined : found;
}

/**
 * All files of a tree, by path.
 * @throws GitFailed for more than `maxFiles`, or longer paths: a dozen objects can make millions of them
 */
export async function allFiles(folder: Folder, root: string): Promise<Map<string, TreeEntry>> {
  const files = new Map<string, TreeEntry>();
  const folders = [{ prefix: '', tree: root }];
  let chars = 0;
  for (let seen = 0; folders.length > 0; ) {
    // The deepest first, so that few wait.
    const some = folders.splice(-foldersAtOnce);
    const read = await Promise.all(some.map(({ tree }) => folder(tree)));
    for (const [i, entries] of read.entries()) {
      const prefix = some[i]?.prefix ?? '';
      seen += entries.size;
      chars += entries.size * prefix.length;
      if (seen > maxFiles) throw new GitFailed('broken', `git: the repository has more than ${maxFiles} files`);
      if (chars > maxPathChars)
        throw new GitFailed('broken', `git: the paths of the repository have more than ${maxPathChars} characters`);
      await inPortions(entries, ([name, entry]) => {
        const path = `${prefix}${name}`;
        if (entry.mode === folderMode) folders.push({ prefix: `${path}/`, tree: entry.oid });
        else files.set(path, entry);
      });
    }
  }
  return files;
}

import { GitFailed } from '../engine.ts';
import { inPortions } from '../portions.ts';

/** A file, link or submodule in a tree. The mode is octal, as git writes it. */
export interface TreeEntry {
  mode: string;
  oid: string;
}

const folderMode = '40000';
/** More than the largest repositories that people work in. This many take about 200 MB of memory here. */
const maxFiles = 500_000;
/** Characters of all paths together. A few nested folders with long names can make millions of long paths. */
const maxPathChars = 64_000_000;
/** Folders to ask git for at the same time, because each answer takes a moment. */
const foldersAtOnce = 64;

/** The entries of a folder, by name. Throws when the folder cannot be read. */
type Folder = (tree: string) => Promise<Map<string, TreeEntry>>;

/**
 * The file at a path below a tree; undefined when there is none. A folder that cannot be read makes `folder` throw, so
 * an unreadable file never counts as missing.
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
 * @throws GitFailed for too many files or too long paths: a dozen objects of a hostile repository can make millions
 */
export async function allFiles(folder: Folder, root: string): Promise<Map<string, TreeEntry>> {
  const files = new Map<string, TreeEntry>();
  const folders = [{ prefix: '', tree: root }];
  let chars = 0;
  for (let seen = 0; folders.length > 0; ) {
    // The deepest folders first, so that the list of folders stays short.
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

import { setImmediate } from 'node:timers/promises';
import { GitFailed } from '../engine.ts';

/** A file, link or submodule in a tree. The mode is octal, as git writes it. */
export interface TreeEntry {
  mode: string;
  oid: string;
}

const folderMode = '40000';
/** More than the largest real-world repositories have. This many files take about 200 MB of memory. */
const maxFiles = 500_000;
/** Characters of all paths together. A few nested folders with long names can produce millions of long paths. */
const maxPathChars = 64_000_000;
/** Folders to request from git at the same time, because each response takes a moment. */
const foldersAtOnce = 64;

/** Returns the entries of a folder, by name. Throws when the folder cannot be read. */
type Folder = (tree: string) => Promise<Map<string, TreeEntry>>;

/**
 * Returns the file at a path below a tree, or undefined when there is none. If a folder cannot be read, `folder`
 * throws, so an unreadable file is never mistaken for a missing one.
 */
export async function findFile(folder: Folder, tree: string, path: string): Promise<TreeEntry | undefined> {
  const found = await findEntry(folder, tree, path);
  return found?.mode === folderMode || found?.mode === '160000' ? undefined : found;
}

/** Returns the names in the folder at a path below a tree; none when there is no such folder. */
export async function namesIn(folder: Folder, tree: string, path: string): Promise<string[]> {
  if (path === '') return [...(await folder(tree)).keys()];
  const found = await findEntry(folder, tree, path);
  return found?.mode === folderMode ? [...(await folder(found.oid)).keys()] : [];
}

async function findEntry(folder: Folder, tree: string, path: string): Promise<TreeEntry | undefined> {
  let found: TreeEntry = { mode: folderMode, oid: tree };
  for (const part of path.split('/')) {
    const inside = found.mode === folderMode ? (await folder(found.oid)).get(part) : undefined;
    if (inside === undefined) return undefined;
    found = inside;
  }
  return found;
}

/**
 * Returns all files of a tree, by path.
 * @throws GitFailed when there are too many files or their paths are too long: a hostile repository can produce
 * millions of paths from a dozen objects
 */
export async function allFiles(folder: Folder, root: string): Promise<Map<string, TreeEntry>> {
  const files = new Map<string, TreeEntry>();
  const folders = [{ prefix: '', tree: root }];
  let chars = 0;
  for (let seen = 0; folders.length > 0; ) {
    // Handles the deepest folders first, so that the list of pending folders stays short.
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

/** After this time, the event loop has its turn. */
const portionMs = 5;

/** Calls `look` for each item, of which there may be hundreds of thousands, and yields to the event loop regularly. */
export async function inPortions<T>(things: Iterable<T>, look: (thing: T) => void): Promise<void> {
  let end = performance.now() + portionMs;
  for (const thing of things) {
    look(thing);
    if (performance.now() < end) continue;
    await setImmediate();
    end = performance.now() + portionMs;
  }
}

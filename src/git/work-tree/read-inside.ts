import { createHash } from 'node:crypto';
import { constants, type Dirent, lstatSync, type Stats } from 'node:fs';
import { type FileHandle, open, opendir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** A work tree that cannot become a pull request. The message says what to change. */
export class UnfitWorkTree extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'UnfitWorkTree';
  }
}

export function tooLarge(what: string): UnfitWorkTree {
  return new UnfitWorkTree(`the change is too large: over ${what}; remove build output, or name it in .gitignore`);
}

/** Directory entries to read per system call. */
const namesAtOnce = 512;

interface Listing {
  /** The folder's name in errors. */
  name: string;
  /** Whether the commit has files in the folder. */
  isTracked: boolean;
  most: number;
  /** Creates the error for a folder with more entries than `most`. */
  tooMany(): Error;
}

/**
 * Lists the entries of a folder. A folder that cannot be read counts as empty, unless the commit has files in it,
 * because those would then be pushed as deleted.
 * @throws UnfitWorkTree
 */
export async function listFolder(folder: string, { name, isTracked, most, tooMany }: Listing): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    // Reads entry by entry, because a list of millions of names takes gigabytes.
    for await (const entry of await opendir(folder, { bufferSize: namesAtOnce })) if (entries.push(entry) > most) break;
  } catch (error) {
    if (isTracked) throw new UnfitWorkTree(`${name} cannot be read (${(error as { code?: string }).code})`);
    return [];
  }
  if (entries.length > most) throw tooMany();
  return entries;
}

/**
 * Returns the file status of a path, or undefined when it does not exist. It is synchronous, because that takes 3 µs
 * instead of 11 in the thread pool, and most files of a large work tree need no more than this.
 */
export function lookAt(path: string, name: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return unlessUnreadable(error, name);
  }
}

/**
 * Reads a file if it is still the file that was listed. Returns undefined if it is not, or if it has more than
 * `maxBytes`.
 */
export function readInside(full: string, workTree: string, maxBytes: number): Promise<Buffer | undefined> {
  return withFile(full, workTree, async (handle) => {
    const { size } = await handle.stat();
    return size > maxBytes ? undefined : handle.readFile();
  });
}

/** Returns the blob id of a file of any size, without holding it in memory. */
export function hashInside(full: string, workTree: string, size: number): Promise<string | undefined> {
  return withFile(full, workTree, async (handle) => {
    const hash = createHash('sha1').update(`blob ${size}\0`);
    for await (const chunk of handle.createReadStream({ end: size - 1, autoClose: false }))
      hash.update(chunk as Buffer);
    return hash.digest('hex');
  });
}

/** Opens a regular file and checks that none of its parent folders was replaced by a link after it was listed. */
async function withFile<T>(
  full: string,
  workTree: string,
  read: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) =>
    unlessUnreadable(error, full.slice(workTree.length + 1)),
  );
  if (handle === undefined) return undefined;
  try {
    // The path of the work tree may contain links (/tmp, for example). They were not made by an agent, so resolve them
    // first.
    const [where, root] = [await readlink(`/proc/self/fd/${handle.fd}`), await realpath(workTree)];
    const isHere = where === join(root, full.slice(workTree.length));
    return isHere && (await handle.stat()).isFile() ? await read(handle) : undefined;
  } finally {
    await handle.close();
  }
}

/**
 * Returns undefined if the error says that the file is gone or was replaced by a link or a folder.
 * @throws UnfitWorkTree for any other error: a file that exists but cannot be read would be pushed as deleted
 */
function unlessUnreadable(error: unknown, name: string): undefined {
  const { code } = error as { code?: string };
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code ?? '')) return undefined;
  throw new UnfitWorkTree(`${name} cannot be read (${code})`);
}

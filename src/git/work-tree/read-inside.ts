import { createHash } from 'node:crypto';
import { constants, lstatSync, type Stats } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { UnfitWorkTree } from './unfit-work-tree.ts';

/**
 * What the file system says about a path; undefined when there is nothing. Synchronous: it takes 3 µs, where going
 * through the thread pool takes 11, and most files of a large work tree are only looked at.
 */
export function lookAt(path: string, name: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return unlessUnreadable(error, name);
  }
}

/** The content of a file, if it is still the file that was listed; undefined also when it has more than `maxBytes`. */
export function readInside(full: string, workTree: string, maxBytes: number): Promise<Buffer | undefined> {
  return withFile(full, workTree, async (handle) => {
    const { size } = await handle.stat();
    return size > maxBytes ? undefined : handle.readFile();
  });
}

/** The blob id of a file of any size, without holding it in memory. */
export function hashInside(full: string, workTree: string, size: number): Promise<string | undefined> {
  return withFile(full, workTree, async (handle) => {
    const hash = createHash('sha1').update(`blob ${size}\0`);
    for await (const chunk of handle.createReadStream({ end: size - 1, autoClose: false }))
      hash.update(chunk as Buffer);
    return hash.digest('hex');
  });
}

/** Opens a regular file and makes sure that no folder on the way to it became a link after it was listed. */
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
    // The path of the work tree itself may contain links (/tmp, for example), which no agent can place.
    const [where, root] = [await readlink(`/proc/self/fd/${handle.fd}`), await realpath(workTree)];
    const isHere = where === join(root, full.slice(workTree.length));
    return isHere && (await handle.stat()).isFile() ? await read(handle) : undefined;
  } finally {
    await handle.close();
  }
}

/**
 * Undefined for a file that is gone, or was replaced by a link or a folder.
 * @throws UnfitWorkTree for any other error: a file that exists and cannot be read would be pushed as deleted
 */
function unlessUnreadable(error: unknown, name: string): undefined {
  const { code } = error as { code?: string };
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code ?? '')) return undefined;
  throw new UnfitWorkTree(`${name} cannot be read (${code})`);
}

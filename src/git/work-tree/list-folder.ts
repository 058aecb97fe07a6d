import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { UnfitWorkTree } from './unfit-work-tree.ts';

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

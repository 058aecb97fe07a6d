import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { UnfitWorkTree } from './unfit-work-tree.ts';

/** How many names to read from the system at a time. */
const namesAtOnce = 512;

interface Listing {
  /** How to call the folder in an error. */
  name: string;
  /** The repository has files in it. */
  isTracked: boolean;
  most: number;
  /** The error for a folder with more entries than `most`. */
  tooMany(): Error;
}

/**
 * The entries of a folder. One that cannot be read counts as empty, unless the repository has files in it: they would be
 * pushed as deleted.
 * @throws UnfitWorkTree
 */
export async function listFolder(folder: string, { name, isTracked, most, tooMany }: Listing): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    // One by one, because a list of millions of names takes gigabytes.
    for await (const entry of await opendir(folder, { bufferSize: namesAtOnce })) if (entries.push(entry) > most) break;
  } catch (error) {
    if (isTracked) throw new UnfitWorkTree(`${name} cannot be read (${(error as { code?: string }).code})`);
    return [];
  }
  if (entries.length > most) throw tooMany();
  return entries;
}

import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Moves what lies in one folder into another on the same disk. What is already there stays, and links are not followed,
 * so none of the repository's own files is replaced and nothing is written outside. Call this only while no other
 * process changes the folders.
 */
export async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const there = await lstat(target).catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (there === undefined) await rename(source, target);
    else if (entry.isDirectory() && there.isDirectory()) await moveInto(source, target);
  }
}

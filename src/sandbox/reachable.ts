import { chmod, copyFile, link, lstat, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A path of a file that every user of a sandbox can read and that tells nothing about this machine: the mounts of a
 * sandbox show where they come from. Below /usr it is the file itself, else a hard link (1 ms) or a copy in `dir`.
 */
export async function reachable(file: string, name: string, dir: string): Promise<string> {
  if (file.startsWith('/usr/')) return file;
  const copy = join(dir, name);
  const found = await lstat(copy).catch(() => undefined);
  if (found?.isFile() && found.uid === process.getuid?.() && (found.mode & 0o004) !== 0) return copy;
  const making = `${copy}.${process.pid}`;
  const { mode } = await stat(file);
  const copied = () => copyFile(file, making).then(() => chmod(making, mode | 0o444));
  // A link shares the mode, which may close the file to others.
  await ((mode & 0o004) === 0 ? copied() : link(file, making).catch(copied));
  await rename(making, copy);
  return copy;
}

import { chmod, copyFile, link, lstat, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

let unfinished = 0;

/**
 * A path of a file that every user of a sandbox can read and that reveals nothing about this machine: inside a sandbox,
 * the list of mounts shows the paths they come from. The file becomes a hard link (1 ms) or a copy in `dir`. It stays
 * where it is below /usr, or when there is no space for a copy.
 */
export async function neutralPath(file: string, name: string, dir: string): Promise<string> {
  if (file.startsWith('/usr/')) return file;
  return linkedIn(dir, file, name).catch(async (error) => {
    if (await isReadable(file)) return file;
    throw error;
  });
}

/** A path of a file that every user can read: the file itself, otherwise a link or a copy. */
export async function readablePath(file: string, name: string, dir: string): Promise<string> {
  return (await isReadable(file)) ? file : linkedIn(dir, file, name);
}

async function linkedIn(dir: string, file: string, name: string): Promise<string> {
  const copy = join(dir, name);
  const found = await lstat(copy).catch(() => undefined);
  if (found?.isFile() && found.uid === process.getuid?.() && (found.mode & 0o004) !== 0) return copy;
  const making = `${copy}.${++unfinished}.${process.pid}`;
  const { mode } = await stat(file);
  const copied = () => copyFile(file, making).then(() => chmod(making, mode | 0o444));
  // A link has the mode of the file, which may keep other users out.
  await ((mode & 0o004) === 0 ? copied() : link(file, making).catch(copied));
  await rename(making, copy);
  return copy;
}

/** Whether the tools can read a file. They run as other users only when the service runs as root. */
async function isReadable(file: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return true;
  if (((await stat(file)).mode & 0o004) === 0) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

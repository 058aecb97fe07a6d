import { access, constants, copyFile, link, lstat, mkdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A path that the tools' uid can read: the file itself, or a hard link (1 ms) or copy of it in a reachable folder. */
export async function reachable(file: string, name: string, dir: string, who: { uid?: number }): Promise<string> {
  if (who.uid === undefined || (await isReadable(file))) return file;
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const copy = join(dir, name);
  const exists = await lstat(copy).catch(() => undefined);
  if (exists?.isFile() && exists.uid === 0 && (await isReadable(copy))) return copy;
  const making = `${copy}.${process.pid}`;
  await link(file, making).catch(() => copyFile(file, making));
  await rename(making, copy);
  return copy;
}

/** Whether everyone may read a file and pass through its folders. */
async function isReadable(file: string): Promise<boolean> {
  if (((await stat(file)).mode & 0o004) === 0) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) break;
  }
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}

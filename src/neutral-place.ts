import { link, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reachableRoot } from './db/embedded/embedded-binaries.ts';

/**
 * A folder whose path tells nothing about this machine or about who runs the service: inside a sandbox the list of
 * mounts shows where each of them comes from. Undefined where there is none that we alone can write to.
 */
export async function neutralRoot(): Promise<string | undefined> {
  try {
    const uid = process.getuid?.();
    const folder = uid === 0 ? join(await reachableRoot(), 'work') : `/var/tmp/deckhand-${uid}`;
    // Tools of root have users of their own, who must be able to pass.
    await mkdir(folder, { recursive: true, mode: uid === 0 ? 0o711 : 0o700 });
    const found = await lstat(folder);
    // Others may write to /var/tmp, and may have been there first.
    return found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Whether two folders are on one disk, and not on different mounts of it either. */
export async function isOneDisk(one: string, other: string): Promise<boolean> {
  const names = [one, other].map((folder) => join(folder, `.probe-${process.pid}`)) as [string, string];
  try {
    await writeFile(names[0], '');
    await link(...names);
    return true;
  } catch {
    return false;
  } finally {
    for (const name of names) await rm(name, { force: true }).catch(() => {});
  }
}

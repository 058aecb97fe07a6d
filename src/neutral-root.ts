import { link, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reachableRoot } from './db/embedded/embedded-binaries.ts';

/**
 * Returns a folder whose path reveals nothing about this machine or its user, because the list of mounts inside a
 * sandbox shows source paths. Returns undefined if there is no such folder that only this user can write to.
 */
export async function neutralRoot(): Promise<string | undefined> {
  try {
    const uid = process.getuid?.();
    const folder = uid === 0 ? join(await reachableRoot(), 'work') : `/var/tmp/deckhand-${uid}`;
    // If the service runs as root, tools run as other users, which must be able to enter the folder.
    await mkdir(folder, { recursive: true, mode: uid === 0 ? 0o711 : 0o700 });
    const found = await lstat(folder);
    // Anyone may write to /var/tmp, so another user may have created the folder.
    return found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a file can be hard-linked from one folder to the other: they are on the same disk and mount. */
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

import { link, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reachableRoot } from './db/embedded/embedded-binaries.ts';

/**
 * A folder whose path reveals nothing about this machine or its user, because the list of mounts inside a sandbox shows the
 * source of each one. Undefined if there is no such folder that only this user can write to.
 */
export async function neutralRoot(): Promise<string | undefined> {
  try {
    const uid = process.getuid?.();
    const folder = uid === 0 ? join(await reachableRoot(), 'work') : `/var/tmp/deckhand-${uid}`;
    // A service that runs as root gives tools other users, which must be able to enter.
    await mkdir(folder, { recursive: true, mode: uid === 0 ? 0o711 : 0o700 });
    const found = await lstat(folder);
    // Anyone may write to /var/tmp, so another user may have created it.
    return found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a file can be linked from one folder to the other: they are on one disk and one mount. */
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

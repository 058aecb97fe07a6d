import { randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Marks are renewed this often. One that is older than `staleMs` was left by a process that was killed. */
const [beatMs, staleMs] = [30_000, 180_000];
const prefix = 'in-use-';

const held = new Set<string>();
let timer: NodeJS.Timeout | undefined;

/**
 * Marks a folder as in use, so that no process removes it, and returns a function that removes the mark. Marks are files
 * that are renewed while they are needed: workers that share the folder see them, and those of a killed worker expire.
 * @throws Error `ENOENT` when the folder does not exist
 */
export async function markInUse(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, `${prefix}${randomBytes(8).toString('hex')}`);
  await writeFile(file, '');
  held.add(file);
  timer ??= setInterval(renew, beatMs).unref();
  return async () => {
    held.delete(file);
    await rm(file, { force: true });
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Returns whether a process uses a folder. */
export async function isInUse(folder: string): Promise<boolean> {
  for (const name of (await readdir(folder).catch(() => [])).filter((each) => each.startsWith(prefix))) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found !== undefined && found.mtimeMs > Date.now() - staleMs) return true;
  }
  return false;
}

function renew(): void {
  const now = new Date();
  // A folder that was removed by hand takes its marks along.
  for (const file of held) utimes(file, now, now).catch(() => {});
}

import { randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Marks are renewed this often. One that is older than `staleMs` was left by a process that was killed. */
const [beatMs, staleMs] = [30_000, 180_000];
const prefix = 'in-use-';

/** The marks of this process. */
const held = new Set<{ file: string }>();
let timer: NodeJS.Timeout | undefined;

/**
 * Marks a folder as in use, so that no process removes it, and returns a function that removes the mark. Marks are files
 * that are renewed while they are needed: workers that share the folder see them, and those of a killed worker expire.
 * @throws Error `ENOENT` when the folder does not exist
 */
export async function markInUse(folder: string): Promise<() => Promise<void>> {
  const mark = { file: join(folder, `${prefix}${randomBytes(8).toString('hex')}`) };
  await writeFile(mark.file, '');
  held.add(mark);
  timer ??= setInterval(renew, beatMs).unref();
  return async () => {
    held.delete(mark);
    await rm(mark.file, { force: true });
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Tells the marks of this process that their folder has been renamed. */
export function followRename(from: string, to: string): void {
  for (const mark of held) if (dirname(mark.file) === from) mark.file = join(to, basename(mark.file));
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
  for (const { file } of held) utimes(file, now, now).catch(() => {});
}

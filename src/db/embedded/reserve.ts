import { randomBytes } from 'node:crypto';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Four segments of PostgreSQL's write-ahead log: enough to recover and to write the following checkpoint. */
export const reserveBytes = 64 * 2 ** 20;

const chunkBytes = 2 ** 20;

/**
 * Returns the bytes that ordinary users can still write to the disk of a folder; the last blocks are often reserved for
 * root. Some container and network file systems do not report their size and count as unlimited.
 */
export async function freeBytes(folder: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

const fileOf = (folder: string) => join(folder, 'reserve');

/**
 * Creates the reserve unless it exists or would leave less than its own size free. The file is filled with random
 * bytes, because a sparse file has no blocks and some file systems allocate none for zeros.
 */
export async function makeReserve(folder: string): Promise<void> {
  const file = fileOf(folder);
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size === reserveBytes || (await freeBytes(folder)) < 2 * reserveBytes) return;
  const chunk = randomBytes(chunkBytes);
  const handle = await open(file, 'w', 0o600);
  try {
    for (let written = 0; written < reserveBytes; written += chunkBytes) await handle.write(chunk);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Deletes the reserve if the disk is full, and returns whether it did. */
export async function giveUpReserve(folder: string): Promise<boolean> {
  if ((await freeBytes(folder)) >= reserveBytes) return false;
  return rm(fileOf(folder)).then(
    () => true,
    () => false,
  );
}

import { randomUUID } from 'node:crypto';
import { link, rm, writeFile } from 'node:fs/promises';

/**
 * Writes a file that nobody else may read, unless it is there already: of two processes that start at once one writes,
 * and both read the same. It appears whole or not at all, also when the process is killed or the disk is full.
 */
export async function writeOnce(file: string, text: string): Promise<void> {
  const making = `${file}.${randomUUID()}`;
  try {
    await writeFile(making, text, { mode: 0o600, flag: 'wx', flush: true });
    await link(making, file);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  } finally {
    await rm(making, { force: true });
  }
}

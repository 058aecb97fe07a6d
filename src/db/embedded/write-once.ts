import { randomUUID } from 'node:crypto';
import { link, rm, writeFile } from 'node:fs/promises';

/**
 * Creates a private file (mode 0600) unless it exists. If two processes start at the same time, one of them writes the
 * file and both read the same content. The file is never incomplete, even if the process is killed or the disk is full.
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

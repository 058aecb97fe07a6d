import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Files } from '../tasks/task.ts';

/** Reads all regular files in a folder and its subfolders. */
export async function readFiles(folder: string): Promise<Files> {
  const files: Files = new Map();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(folder, path), await readFile(path));
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Writes files into a folder. What stands in their way, such as a link that an agent left there, is removed and not
 * followed. Scripts become executable.
 */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, content] of files) {
    const full = join(folder, path);
    await rm(full, { recursive: true, force: true });
    await mkdir(dirname(full), { recursive: true });
    const isScript = content.subarray(0, 2).toString('latin1') === '#!';
    await writeFile(full, content, { mode: isScript ? 0o755 : 0o644 });
  }
}

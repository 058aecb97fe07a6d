import { lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Restores the files of an interrupted run. Called by the service, not by the model: the paths come from git's trees, so
 * they need no check. Links on a path are removed, not followed.
 */
export async function restore(root, { files }) {
  for (const { path, content } of files)
    if (content === null) await rm(join(root, path), { recursive: true, force: true });
  for (const { path, mode, content } of files) {
    if (content === null) continue;
    const full = join(root, path);
    await clearFolders(root, dirname(path));
    await rm(full, { recursive: true, force: true });
    const bytes = Buffer.from(content, 'base64');
    if (mode === '120000') await symlink(bytes.toString('utf8'), full);
    else await writeFile(full, bytes, { mode: mode === '100755' ? 0o755 : 0o644, flag: 'wx' });
  }
  return `restored ${files.length} files`;
}

/** Creates the folders of a path. Removes files and links that are in the place of a folder. */
async function clearFolders(root, path) {
  let folder = root;
  for (const part of path.split('/').filter((p) => p !== '.' && p !== '')) {
    folder = join(folder, part);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory()) continue;
    if (found !== undefined) await rm(folder);
    await mkdir(folder);
  }
}

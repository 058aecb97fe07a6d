import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import git from 'isomorphic-git';
import { GitFailed } from '../engine.ts';
import { filesOf } from './changes.ts';
import type { IsomorphicRepository } from './repository.ts';

/** Writes the files of a tree into an empty folder; see `Checkout.export`. */
export async function exportTree(repository: IsomorphicRepository, tree: string, folder: string): Promise<void> {
  const files = [...(await repository.run(() => filesOf(repository, tree)))];
  for (const [path, { mode }] of files) {
    if (path.split('/').some((name) => ['', '.', '..', '.git'].includes(name.toLowerCase())))
      throw new GitFailed('broken', `git: the tree contains the path ${path}, which cannot be written`);
    await mkdir(join(folder, mode === '160000' ? path : dirname(path)), { recursive: true });
  }
  const contents = async (oid: string) => (await git.readBlob({ ...repository.local, oid })).blob;
  // Links come last, so that no file is written through one, whatever a damaged tree contains.
  for (const [path, { mode, oid }] of files)
    if (mode !== '160000' && mode !== '120000')
      await writeFile(join(folder, path), await contents(oid), { flag: 'wx', mode: mode === '100755' ? 0o755 : 0o644 });
  for (const [path, { mode, oid }] of files)
    if (mode === '120000') await symlink(Buffer.from(await contents(oid)), join(folder, path));
}

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { FileInTree } from '../engine.ts';
import type { NativeRepository } from './repository.ts';
import { everyName } from './snapshot.ts';

/** Writes a tree with some files replaced; see `Checkout.replaceFiles`. */
export async function replaceFiles(repository: NativeRepository, tree: string, files: FileInTree[]): Promise<string> {
  // An index of its own, so that the checkout's index stays as it is.
  const env = { GIT_INDEX_FILE: `${repository.gitDir}/replace-${randomUUID()}.index` };
  const isRemoved = ({ mode }: FileInTree) => mode === '000000';
  // Removals come first, because a folder may take the place of a file.
  const ordered = [...files.filter(isRemoved), ...files.filter((file) => !isRemoved(file))];
  const input = ordered
    .map(
      (file) => `${isRemoved(file) ? '0' : file.mode} ${isRemoved(file) ? '0'.repeat(40) : file.oid}\t${file.path}\0`,
    )
    .join('');
  try {
    await repository.git([...everyName, 'read-tree', tree], { env });
    await repository.git([...everyName, 'update-index', '-z', '--add', '--replace', '--index-info'], { env, input });
    return (await repository.git(['write-tree'], { env })).toString('utf8').trim();
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

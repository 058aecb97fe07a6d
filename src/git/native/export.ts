import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { NativeRepository } from './repository.ts';
import { everyName } from './snapshot.ts';

/** Writes the files of a tree into an empty folder; see `Checkout.export`. */
export async function exportTree(repository: NativeRepository, tree: string, folder: string): Promise<void> {
  // An index of its own, so that the checkout's index stays as it is.
  const env = { GIT_INDEX_FILE: `${repository.gitDir}/export-${randomUUID()}.index` };
  try {
    await repository.git([...everyName, 'read-tree', tree], { env });
    await repository.git([`--work-tree=${folder}`, ...everyName, 'checkout-index', '--all', '--quiet'], { env });
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

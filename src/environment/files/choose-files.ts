// Which files of a repository a run, its set-up and its checks get: the key `checkout` of .deckhand.yml.

import { posix } from 'node:path';
import { RunFailed } from '../../domain/run.ts';
import { coneOf } from '../../git/cone.ts';
import type { Checkout } from '../../git/engine.ts';
import { settingsFile } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';

type Choosing = Pick<RepositorySettings, 'checkout'>;

/**
 * Limits a checkout to the files that the settings ask for. Call it before the first checkout. The folders of files with
 * conflicts are added, because somebody has to resolve them.
 * @throws RunFailed `repository` when the git engine cannot do it
 */
export async function chooseFiles(
  checkout: Checkout,
  { checkout: { submodules, lfs, paths } }: Choosing,
  conflicts: string[] = [],
): Promise<void> {
  if (submodules || lfs) throw cannotBeUsed(`checkout.${lfs ? 'lfs' : 'submodules'} is not supported yet; remove it`);
  if (paths.length === 0) return;
  if (checkout.narrow === undefined)
    throw cannotBeUsed('checkout.paths needs git, and git in JavaScript is in use; install git (GIT_ENGINE=native)');
  await checkout.narrow([...paths, ...conflicts.map((path) => posix.dirname(path)).filter((folder) => folder !== '.')]);
}

/**
 * Checks that the folders exist at a commit.
 * @throws RunFailed `repository` that names the first one that does not
 */
export async function assertFoldersExist(
  checkout: Checkout,
  { checkout: { paths } }: Choosing,
  { branch, head }: { branch: string; head: string },
): Promise<void> {
  for (const path of paths)
    if ((await checkout.listFolder(head, path)).length === 0)
      throw cannotBeUsed(`checkout.paths: there is no folder ${path} on the branch ${branch}`);
}

/**
 * Returns those of a tree's files that its checkout has: all, or those inside the chosen folders and those that `base` does
 * not have.
 */
export function chosenOf<T>({ checkout: { paths } }: Choosing, files: Map<string, T>, base = files): Map<string, T> {
  if (paths.length === 0) return files;
  const cone = coneOf(paths);
  return new Map([...files].filter(([path]) => cone.has(path) || !base.has(path)));
}

/** Writes what the agent should know about its files; empty if it has all of them. */
export function toldOfFiles({ checkout: { paths } }: Choosing): string {
  if (paths.length === 0) return '';
  return `The workspace has only a part of the repository: ${paths.join(', ')}, and the files in the folders above. All other files exist and stay as they are. Commands and checks do not see them either.`;
}

function cannotBeUsed(why: string): RunFailed {
  return new RunFailed('repository', `${settingsFile} on the default branch cannot be used: ${why}`);
}

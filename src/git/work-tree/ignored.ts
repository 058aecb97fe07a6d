import { join } from 'node:path';
import { foldersOf } from '../folders-of.ts';
import { listFolder } from './list-folder.ts';
import type { TreeEntry } from './tree-files.ts';
import { UnfitWorkTree } from './unfit-work-tree.ts';

/** Folders and files to look at besides those that git ignores. */
const maxNames = 500_000;

interface Looking {
  workTree: string;
  /** The files that git tracks, by path. They are not ignored, whatever the rules say. */
  base: Map<string, TreeEntry>;
  isIgnored(path: string): Promise<boolean>;
  signal?: AbortSignal | undefined;
}

/**
 * Returns the paths that git ignores in a work tree. For an ignored folder, returns only the path of the folder, unless
 * the rule matches the files in it.
 * @throws UnfitWorkTree, or the reason of the signal
 */
export async function ignoredPaths({ workTree, base, isIgnored, signal }: Looking): Promise<string[]> {
  const folders = await foldersOf(base);
  const found: string[] = [];
  let left = maxNames;
  const look = async (folder: string): Promise<void> => {
    signal?.throwIfAborted();
    const entries = await listFolder(join(workTree, folder), {
      name: folder || 'the workspace',
      isTracked: folder === '' || folders.has(folder),
      most: left,
      tooMany: () => new UnfitWorkTree(`the workspace has more than ${maxNames} files and folders`),
    });
    left -= entries.length;
    // Asked together, because each answer takes a moment.
    const untracked = entries.filter(({ name }) => name.toLowerCase() !== '.git');
    const paths = untracked.map(({ name }) => (folder === '' ? name : `${folder}/${name}`));
    const answers = await Promise.all(paths.map((path) => !base.has(path) && !folders.has(path) && isIgnored(path)));
    for (const [i, entry] of untracked.entries()) {
      const path = paths[i] ?? '';
      if (answers[i]) found.push(path);
      else if (entry.isDirectory() && base.get(path)?.mode !== '160000') await look(path);
    }
  };
  await look('');
  return found;
}

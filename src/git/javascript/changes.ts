import git, { type WalkerEntry } from 'isomorphic-git';
import { type Change, GitFailed } from '../engine.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import type { IsomorphicRepository } from './repository.ts';

/** The entry for a side on which the file does not exist. */
const nothing: TreeEntry = { mode: '000000', oid: '0'.repeat(40) };

/** Returns the changed paths between two commits or trees. */
export async function changesBetween(repository: IsomorphicRepository, from: string, to: string): Promise<Change[]> {
  const changes: Change[] = [];
  await git.walk({
    ...repository.local,
    trees: [git.TREE({ ref: from }), git.TREE({ ref: to })],
    map: async (path, [before, after]) => {
      // The walk does not enter a folder whose object id is the same on both sides: nothing in it changed.
      if (await isEqual(before, after)) return null;
      const [old, now] = [await fileOf(before), await fileOf(after)];
      if (old !== nothing || now !== nothing)
        changes.push({ path, oldMode: old.mode, newMode: now.mode, oldOid: old.oid, newOid: now.oid });
      return path;
    },
  });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns all files of a commit, by path. @throws GitFailed `broken` for a file name that is not UTF-8 */
export async function filesOf(repository: IsomorphicRepository, commit: string): Promise<Map<string, TreeEntry>> {
  const files = new Map<string, TreeEntry>();
  await git.walk({
    ...repository.local,
    trees: [git.TREE({ ref: commit })],
    map: async (path, [entry]) => {
      // The library replaces bytes that are not UTF-8 while decoding a name, so the next commit would rename the file.
      if (path.includes('\uFFFD'))
        throw new GitFailed(
          'broken',
          `git: the file name ${path} is not UTF-8, which git in JavaScript cannot keep; install git`,
        );
      const file = await fileOf(entry);
      if (file !== nothing) files.set(path, file);
      return path;
    },
  });
  return files;
}

type Entry = WalkerEntry | null | undefined;

async function isEqual(a: Entry, b: Entry): Promise<boolean> {
  return (await a?.oid()) === (await b?.oid()) && (await a?.mode()) === (await b?.mode());
}

/** Returns a file as a tree entry, or `nothing` for a folder or a missing file. */
async function fileOf(entry: Entry): Promise<TreeEntry> {
  if (!entry || (await entry.type()) === 'tree') return nothing;
  return { mode: (await entry.mode()).toString(8).padStart(6, '0'), oid: (await entry.oid()) ?? nothing.oid };
}

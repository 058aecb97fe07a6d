import fs from 'node:fs';
import git, { type MergeDriverCallback } from 'isomorphic-git';
import { merge as mergeLines } from 'node-diff3';
import type { Merged } from '../engine.ts';

const nobody = { name: 'merge', email: 'merge@localhost', timestamp: 0, timezoneOffset: 0 };

/** Merges two commits. Files with conflicts contain both sides between git's conflict markers. */
export async function mergeTrees(gitdir: string, ours: string, theirs: string): Promise<Merged> {
  const conflicts: string[] = [];
  const mergeDriver: MergeDriverCallback = ({ contents, path }) => {
    const [base = [], mine = [], other = []] = contents.map((text) => text.split('\n'));
    const { conflict, result } = mergeLines(mine, base, other, { label: { a: ours, b: theirs } });
    if (conflict) conflicts.push(path);
    return { cleanMerge: true, mergedText: result.join('\n') };
  };
  // The library merges refs only, so both commits get a temporary ref.
  const sides = { ours: 'refs/deckhand/ours', theirs: 'refs/deckhand/theirs' };
  await git.writeRef({ fs, gitdir, ref: sides.ours, value: ours, force: true });
  await git.writeRef({ fs, gitdir, ref: sides.theirs, value: theirs, force: true });
  const how = { fastForward: false, noUpdateBranch: true, author: nobody, committer: nobody, mergeDriver };
  const { tree } = await git.merge({ fs, gitdir, ...sides, ...how });
  if (tree === undefined) throw new Error('isomorphic-git returned no tree for the merge');
  return { tree, conflicts };
}

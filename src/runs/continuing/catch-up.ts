import type { EntityManager } from 'typeorm';
import { storableJson } from '../../domain/text/storable.ts';
import { stepOf } from '../lease/journal.ts';
import { allWorks, type Work } from '../work.ts';
import type { OpenRepositories } from '../workspace/open-repositories.ts';
import { type ChangedFiles, filesBetween, packFiles, unpackFiles } from '../workspace/stored-files.ts';

/** What the base branch brought into the files of a rewound run. */
export interface CaughtUp {
  files: ChangedFiles;
  /** The paths that conflict, with the folder of their repository in front. */
  conflicts: string[];
}

/**
 * Merges the base branch into the files of a turn, as far as the task's branch has merged it since then. Without this, the
 * next commit would undo in the branch what others changed in the base.
 */
export async function catchUp(work: Work, repositories: OpenRepositories): Promise<CaughtUp> {
  const caught: CaughtUp = { files: {}, conflicts: [] };
  for (const each of allWorks(work)) {
    const { checkout, branch } = each;
    if (branch.catchesUp === undefined) continue;
    const tree = await checkout.snapshot();
    // A commit for the merge only. Every worker makes the same one, and it is never pushed.
    const author = { name: 'merge', email: 'merge@localhost' };
    const at = new Date('2001-01-01T00:00:00Z');
    const ours = await checkout.commit({
      tree,
      parents: [branch.filesFrom ?? branch.from],
      message: 'merge',
      author,
      at,
    });
    const { tree: merged, conflicts } = await checkout.merge(ours, branch.base);
    const isOwn = each === work;
    caught.files[isOwn ? '' : each.repository.id] = await filesBetween(checkout, tree, merged);
    if (conflicts.length === 0) continue;
    each.branch = { ...branch, conflicts };
    const folder = isOwn ? '' : `../${each.repository.name}/`;
    caught.conflicts.push(...conflicts.map((path) => folder + path));
  }
  if (Object.keys(caught.files).length > 0) await repositories.restore(caught.files);
  return caught;
}

/** Stores what the base branch brought with the last turn that was copied. */
export async function keepCaughtUp(em: EntityManager, work: Work, turn: number, { files }: CaughtUp): Promise<void> {
  if (Object.keys(files).length === 0) return;
  const [row]: { workspace: Buffer | null }[] = await em.query(
    'select workspace from run_turns where run_id = $1 and turn = $2',
    [work.run.id, turn],
  );
  const before = row?.workspace ?? null;
  const packs = [before, await packFiles(files)].filter((pack) => pack !== null);
  await em.query('update run_turns set workspace = $3 where run_id = $1 and turn = $2', [
    work.run.id,
    turn,
    await packFiles(await unpackFiles(packs)),
  ]);
  for (const { branch, repository } of allWorks(work))
    if (branch.catchesUp !== undefined)
      await em.query('update run_steps set data = $3 where run_id = $1 and name = $2', [
        work.run.id,
        stepOf('branch', work.task, repository),
        storableJson(branch),
      ]);
}

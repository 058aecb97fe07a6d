import type { EntityManager } from 'typeorm';
import type { RunRow } from '../../db/tables/task.ts';
import { findStoredFiles } from './stored-files.ts';
import type { Branch } from './workspace.ts';

/** The step with which a run records that its work was not pushed and is left to the next run of its task. */
export const keptStep = 'kept work';

/** The work of an earlier run in the task's own repository. */
export interface KeptWork {
  branch: Branch;
  /** The changed files, packed as with the turns, oldest first. */
  files: Buffer[];
}

/**
 * Finds the work that the last run before this one left in the task's own repository because it could not push it.
 * Returns undefined if nothing was kept, if it is no longer complete, or if a later run has pushed or succeeded.
 */
export async function findKeptWork(
  em: EntityManager,
  run: Pick<RunRow, 'id' | 'taskId' | 'createdAt'>,
): Promise<KeptWork | undefined> {
  const rows: { id: string; branch: Branch }[] = await em.query(
    `select last.id, b.data as branch
     from (
       select r.id from runs r
       where r.task_id = $1 and r.id <> $2 and r.created_at <= $3
         and (r.status = 'succeeded' or exists (
           select 1 from run_steps s where s.run_id = r.id and (s.name = $4 or s.name = 'push')))
       order by r.created_at desc, r.id desc limit 1) last
     join run_steps k on k.run_id = last.id and k.name = $4
     join run_steps b on b.run_id = last.id and b.name = 'branch'
     where (select count(*) = max(turn) + 1 from run_turns where run_id = last.id)
       and exists (select 1 from run_contexts where run_id = last.id)`,
    [run.taskId, run.id, run.createdAt, keptStep],
  );
  const [last] = rows;
  if (last === undefined) return undefined;
  const files = await findStoredFiles(em, last.id);
  return files.length === 0 ? undefined : { branch: last.branch, files };
}

/** Writes the section of an agent's first message that is about kept work. */
export function keptSections(left: KeptWork | undefined): string[] {
  if (left === undefined) return [];
  const text = 'The workspace has the changes of an earlier run that were not pushed. Look at them first.';
  return [`## Unfinished work\n${text}`];
}

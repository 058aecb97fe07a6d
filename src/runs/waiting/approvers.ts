import type { EntityManager } from 'typeorm';
import { AppError } from '../../errors.ts';
import { listLatestRuns } from '../../tasks/work-store.ts';

/**
 * Returns the users who started a task. Everybody counts who started, retried or rewound it; who asked for changes has
 * reviewed its work. Of a run that began by itself, those count who wrote the task or added it to a sprint.
 */
async function listStarters(em: EntityManager, taskId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select distinct s.id as id /* not null */ from runs r, lateral (
         select r.started_by where not r.is_automatic and r.started_by is not null
         union all
         select d.id from tasks t, jsonb_array_elements_text(t.directed_by) d (id)
           where t.id = r.task_id and (r.is_automatic or r.started_by is null)) s (id)
     where r.task_id = $1 and r.kind <> 'revise'`,
    [taskId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Checks that a person did not start a task that `approve: others` is about. `forbidden` completes "You started this task".
 * @throws AppError 403
 */
export async function assertIsOther(em: EntityManager, taskId: string, userId: string, forbidden: string) {
  if ((await listStarters(em, taskId)).includes(userId)) throw new AppError(403, otherText(forbidden));
}

function otherText(forbidden: string): string {
  return `You started this task, and .deckhand.yml says "approve: others": ${forbidden}. Ask somebody else with write permission.`;
}

/** Says why a person may not merge a task if its latest run has found `approve: others`; undefined if that is not so. */
export async function findOtherProblem(em: EntityManager, taskId: string, userId: string): Promise<string | undefined> {
  const [run] = await listLatestRuns(em, taskId, 1);
  if (run === undefined || !(await needsOther(em, run.id))) return undefined;
  return (await listStarters(em, taskId)).includes(userId) ? otherText('you cannot merge it') : undefined;
}

/** Returns whether a repository that a run has open asks for the approval of others than who started the task. */
export async function needsOther(em: EntityManager, runId: string): Promise<boolean> {
  const [row]: [{ found: boolean }] = await em.query(
    `select exists (select 1 from run_steps s where s.run_id = $1
       and (s.name = 'settings' or starts_with(s.name, 'settings ')) and s.data->>'approve' = 'others') as found`,
    [runId],
  );
  return row.found;
}

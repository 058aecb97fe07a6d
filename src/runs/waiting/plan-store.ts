import type { EntityManager } from 'typeorm';
import { storableJson, storableText } from '../../domain/text/storable.ts';
import type { Plan } from '../../domain/waiting.ts';

/** Stores a plan that a run proposes. Its id is that of the wait for its approval. */
export async function insertPlan(
  em: EntityManager,
  { id, runId, taskId }: { id: string; runId: string; taskId: string },
  { markdown, files, checks }: Plan,
): Promise<void> {
  await em.query('insert into plans (id, run_id, task_id, markdown, files, checks) values ($1, $2, $3, $4, $5, $6)', [
    id,
    runId,
    taskId,
    storableText(markdown),
    storableJson(files),
    storableJson(checks),
  ]);
}

export async function findPlan(em: EntityManager, id: string): Promise<Plan | undefined> {
  return (await em.query('select markdown, files, checks from plans where id = $1', [id]))[0];
}

export async function approvePlan(em: EntityManager, id: string, userId: string): Promise<void> {
  await em.query('update plans set approved_at = now(), approved_by = $2 where id = $1', [id, userId]);
}

export interface ApprovedPlan extends Plan {
  runId: string;
}

/**
 * Finds the plan of a task that was approved last, for a run. `until` leaves out plans of other runs that were approved
 * later.
 */
export async function findApprovedPlan(
  em: EntityManager,
  taskId: string,
  { runId, until }: { runId: string; until: Date | null },
): Promise<ApprovedPlan | undefined> {
  const rows: ApprovedPlan[] = await em.query(
    `select run_id as "runId", markdown, files, checks from plans
     where task_id = $1 and approved_at is not null
       and (run_id = $2 or $3::timestamptz is null or approved_at <= $3)
     order by approved_at desc limit 1`,
    [taskId, runId, until],
  );
  return rows[0];
}

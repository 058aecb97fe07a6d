import type { EntityManager } from 'typeorm';
import type { FinishedWork } from '../domain/forecast/estimates.ts';

/** Estimates hardly change with more tasks, and older ones say less about the next. */
const most = 500;

/**
 * Returns the latest tasks of a project that agents have finished, newest first, as evidence for estimates. Tasks that
 * people finished without a run are left out, because nobody knows how long they took.
 */
export async function listFinishedWork(em: EntityManager, projectId: string): Promise<FinishedWork[]> {
  return em.query(
    `select t.id, t.title, t.repository_id as "repositoryId", r."workMs",
       greatest(extract(epoch from t.done_at - r.began) * 1000, r."workMs")::float8 as "totalMs"
     from (select * from tasks where project_id = $1 and status = 'done' order by created_at desc, id limit $2) t
     cross join lateral (
       select min(started_at) as began,
         sum(greatest(extract(epoch from finished_at - started_at) - waited_seconds, 0) * 1000)::float8 as "workMs"
       from runs where task_id = t.id and finished_at is not null) r
     where t.done_at >= r.began and r."workMs" is not null
     order by t.created_at desc, t.id`,
    [projectId, most],
  );
}

import type { EntityManager } from 'typeorm';
import type { WaitReason } from '../../domain/waiting.ts';

export interface StoredWait {
  id: string;
  reason: WaitReason;
  text: string;
  options: string[];
  /** When the run continues, in seconds from now; null when it waits for a person. */
  seconds: number | null;
}

/** Lets a worker's run wait: it gives up its lease and its slot. The caller has checked that the worker holds it. */
export async function setWaiting(em: EntityManager, runId: string, wait: StoredWait): Promise<void> {
  await em.query(
    `update runs set status = 'waiting', lease_until = null, not_before = null, waiting_since = now(), wait_id = $2,
       wait_reason = $3, wait_text = $4, wait_options = $5, resume_at = now() + make_interval(secs => $6::float8)
     where id = $1`,
    [runId, wait.id, wait.reason, wait.text, JSON.stringify(wait.options), wait.seconds],
  );
}

/** Counts one pause for the model. The next turn starts the count again, but not the total. */
export async function addModelPause(em: EntityManager, runId: string, seconds: number): Promise<void> {
  await em.query(
    'update runs set model_pauses = model_pauses + 1, model_pause_seconds = model_pause_seconds + $2 where id = $1',
    [runId, Math.ceil(seconds)],
  );
}

/** SQL: the wait of run r is over. */
export const isDue = `r.status = 'waiting' and r.resume_at <= now()`;

/** Queues the runs whose wait is over. Returns the ids of their tasks. */
export async function queueDueRuns(em: EntityManager): Promise<string[]> {
  const [rows]: [{ taskId: string }[]] = await em.query(
    `update runs set status = 'queued', resume_at = null
     where id in (select r.id from runs r where ${isDue} order by r.resume_at, r.id for update skip locked)
     returning task_id as "taskId"`,
  );
  return rows.map((row) => row.taskId);
}

import type { EntityManager } from 'typeorm';
import { storableJson, storableText } from '../../domain/text/storable.ts';
import type { NewWait } from '../../domain/waiting.ts';

export interface StoredWait extends NewWait {
  id: string;
  /** When the run continues, in seconds from now; null when it waits for a person. */
  seconds: number | null;
}

/**
 * SQL: the assignment that adds the wait since `waiting_since` to the time that a run has waited. The clock of a run
 * that has not started does not run yet, so its waits do not count.
 */
export const addWait = `waited_seconds = waited_seconds
  + case when started_at is null then 0 else coalesce(extract(epoch from now() - waiting_since), 0)::int end`;

/**
 * Lets a run wait: it gives up its lease and its slot. The caller has locked the run, and has checked that it is queued,
 * or that the worker holds it.
 */
export async function setWaiting(em: EntityManager, runId: string, wait: StoredWait): Promise<void> {
  await em.query(
    `update runs set status = 'waiting', lease_until = null, not_before = null, ${addWait}, waiting_since = now(),
       wait_id = $2, wait_reason = $3, wait_text = $4, wait_options = $5,
       resume_at = now() + make_interval(secs => $6::float8), pause_text = null
     where id = $1`,
    [runId, wait.id, wait.reason, storableText(wait.text), storableJson(wait.options), wait.seconds],
  );
}

/** Queues a waiting run. `waiting_since` stays, because the clock of the run stands still until a worker claims it. */
export async function endWaiting(em: EntityManager, runId: string): Promise<void> {
  await em.query(`update runs set status = 'queued', resume_at = null where id = $1 and status = 'waiting'`, [runId]);
}

/** Asks a running run to pause before its next turn; null withdraws that. */
export async function setPause(em: EntityManager, runId: string, text: string | null): Promise<void> {
  await em.query('update runs set pause_text = $2 where id = $1', [runId, text && storableText(text)]);
}

/** Returns why a run was asked to pause before its next turn; undefined when it was not. */
export async function findPause(em: EntityManager, runId: string): Promise<string | undefined> {
  const [row]: { text: string | null }[] = await em.query('select pause_text as text from runs where id = $1', [runId]);
  return row?.text ?? undefined;
}

/** SQL: run r has waited for a person for longer than `days`, an SQL expression; 0 days never pass. */
const hasExpired = (days: string) => `r.status = 'waiting' and r.wait_reason <> 'model' and ${days} > 0
  and r.waiting_since < now() - ${days} * interval '1 day'`;

/** Returns whether a run has waited for a person for longer than this many days. */
export async function hasExpiredWaits(em: EntityManager, days: number): Promise<boolean> {
  const [row] = await em.query(`select exists (select 1 from runs r where ${hasExpired('$1::float8')}) as found`, [
    days,
  ]);
  return row.found;
}

/** Finds the runs that have waited for a person for longer than this many days, or whether one run has. */
export async function listExpiredWaits(em: EntityManager, days: number, runId: string | null = null) {
  const rows: { runId: string; taskId: string }[] = await em.query(
    `select r.id as "runId", r.task_id as "taskId" from runs r
     where ${hasExpired('$1::float8')} and ($2::text is null or r.id = $2) order by r.waiting_since, r.id`,
    [days, runId],
  );
  return rows;
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

import type { EntityManager } from 'typeorm';
import { type RunRow, Runs } from '../../db/tables/task.ts';
import { type Held, LeaseLost } from '../store.ts';
import { addWait, isDue } from '../waiting/waiting-store.ts';

/** A run fails after this many interruptions without progress. The pauses between them add up to five minutes. */
export const maxInterruptions = 10;

/** Builds the SQL for the pause after a number of interruptions in a row: 1, 2, 4 … 60 seconds. */
const pauseAfter = (count: string) =>
  `make_interval(secs => case when ${count} <= 0 then 0 else least(60, 2 ^ least(${count} - 1, 6)) end)`;

/** SQL: the agent has no running run in the project. */
const isFree = `not exists (
  select 1 from runs b where b.agent_id = r.agent_id and b.project_id = r.project_id and b.status = 'running')`;
/**
 * SQL: the run is running, but its lease has expired and another worker may take it over. A worker that gave the run
 * back has set `not_before`. After a worker was lost, the first takeover happens when the lease expires, and later ones
 * happen after a pause.
 */
const isAbandoned = `r.status = 'running' and r.lease_until < now()
  and coalesce(r.not_before, r.lease_until + ${pauseAfter('r.interruptions')}) <= now()`;

export interface Claim {
  run: RunRow;
  /**
   * Set for a run that was running before: the seconds since its last heartbeat, and whether its worker gave it back.
   */
  takenOver: { seconds: number; isGivenBack: boolean } | undefined;
}

/**
 * Claims the oldest run that can start or continue; an agent has one running run per project. Returns undefined when
 * there is none.
 */
export async function claimRun(em: EntityManager, leaseSeconds: number): Promise<Claim | undefined> {
  const [rows]: [{ id: string; wasRunning: boolean; isGivenBack: boolean; seconds: number }[]] = await em.query(
    `update runs set status = 'running', fence = fence + 1, started_at = coalesce(started_at, now()),
       heartbeat_at = now(), lease_until = now() + make_interval(secs => $1), not_before = null,
       ${addWait}, waiting_since = null,
       wait_id = null, wait_reason = null, wait_text = null, wait_options = null,
       interruptions = interruptions + (was.status = 'running' and was.not_before is null)::int
     from (
       select r.id, r.status, r.not_before, r.heartbeat_at from runs r
       where r.status = 'queued' and ${isFree} or ${isAbandoned}
       order by r.created_at, r.id limit 1 for update skip locked) was
     where runs.id = was.id
     returning runs.id, was.status = 'running' as "wasRunning", was.not_before is not null as "isGivenBack",
       coalesce(extract(epoch from now() - was.heartbeat_at), 0)::float8 as seconds`,
    [leaseSeconds],
  );
  const [claimed] = rows;
  if (claimed === undefined) return undefined;
  const { id, wasRunning, isGivenBack, seconds } = claimed;
  return {
    run: await em.findOneByOrFail(Runs, { id }),
    takenOver: wasRunning ? { seconds: Math.round(seconds), isGivenBack } : undefined,
  };
}

/**
 * Returns whether a claim would find a run, or a run may stop waiting. Ignores runs queued in the last two seconds,
 * because their own job wakes a worker.
 */
export async function hasClaimable(em: EntityManager): Promise<boolean> {
  const [row] = await em.query(
    `select exists (select 1 from runs r where ${isAbandoned}
       or r.status = 'queued' and r.created_at < now() - interval '2 seconds' and ${isFree}
       or ${isDue}) as waits`,
  );
  return row.waits;
}

/** Extends the lease of a run. @throws LeaseLost */
export async function renewLease(em: EntityManager, held: Held, leaseSeconds: number): Promise<void> {
  const [, count] = await em.query(
    `update runs set heartbeat_at = now(), lease_until = now() + make_interval(secs => $3) where id = $1 and fence = $2 and status = 'running'`,
    [held.id, held.fence, leaseSeconds],
  );
  if (count === 0) throw new LeaseLost(held.id);
}

/**
 * Releases a run because this worker is stopping, so that another worker can continue it immediately. This does not
 * count as an interruption.
 */
export async function handOver(em: EntityManager, held: Held): Promise<void> {
  await em.query(
    `update runs set heartbeat_at = now(), lease_until = now() - interval '1 second', not_before = now()
     where id = $1 and fence = $2 and status = 'running'`,
    [held.id, held.fence],
  );
}

/**
 * Gives back a run that cannot continue on this worker for now. Returns the pause in seconds; undefined when the run is
 * not held.
 */
export async function giveBack(em: EntityManager, held: Held): Promise<number | undefined> {
  const [rows]: [{ seconds: number }[]] = await em.query(
    `update runs set interruptions = interruptions + 1, heartbeat_at = now(), lease_until = now() - interval '1 second',
       not_before = now() + ${pauseAfter('interruptions + 1')}
     where id = $1 and fence = $2 and status = 'running'
     returning extract(epoch from not_before - now())::float8 as seconds`,
    [held.id, held.fence],
  );
  return rows[0]?.seconds;
}

/** Resets the count of interruptions. */
export async function noteProgress(em: EntityManager, runId: string): Promise<void> {
  await em.query('update runs set interruptions = 0 where id = $1 and interruptions > 0', [runId]);
}

/** Returns the reason for the last interruption, from the log of the run. */
export async function lastInterruption(em: EntityManager, runId: string): Promise<string | undefined> {
  const rows: { why: string }[] = await em.query(
    `select data->>'interrupted' as why from run_events where run_id = $1 and data ? 'interrupted'
     order by run_events.id desc limit 1`,
    [runId],
  );
  return rows[0]?.why;
}

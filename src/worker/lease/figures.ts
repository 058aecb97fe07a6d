import { Gauge } from 'prom-client';
import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { Reader } from '../../http/metrics.ts';
import { isFirstWorker } from './labels.ts';

async function countQueued(em: EntityManager): Promise<{ kind: string; count: number }[]> {
  return em.query(`select kind, count(*)::int as count from runs where status = 'queued' group by kind`);
}

async function countWaiting(em: EntityManager): Promise<{ reason: string; count: number }[]> {
  return em.query(
    `select wait_reason as reason /* not null */, count(*)::int as count from runs where status = 'waiting' group by wait_reason`,
  );
}

/** Returns for how many seconds the run has been queued that could have been claimed first; 0 if there is none. */
async function oldestClaimable(em: EntityManager, maxPerProject: number): Promise<number> {
  const [{ seconds }]: [{ seconds: number }] = await em.query(
    `select greatest(0, coalesce(extract(epoch from now() - min(s.since)), 0))::float8 as seconds from deckhand_scaling s
     where s.status = 'queued' and ($1::int = 0
       or (select count(*) from runs b where b.project_id = s.project_id and b.status = 'running') < $1::int)`,
    [maxPerProject],
  );
  return seconds;
}

/** The mark of the last comparison in which GitHub answered. */
const comparedMark = 'compared with GitHub';

/** Stores the time of a comparison with GitHub that succeeded, or that had no tasks to compare. */
export async function noteCompared(em: EntityManager): Promise<void> {
  await em.query(`insert into read_marks (name, mark) values ($1, '') on conflict (name) do update set at = now()`, [
    comparedMark,
  ]);
}

/**
 * Returns when stuck runs were last recovered and tasks compared with GitHub, in seconds since 1970; undefined before the first
 * time. A comparison without an answer of GitHub does not count. If none has counted yet, it is the time of the first.
 */
async function lastSweep(em: EntityManager): Promise<number | undefined> {
  const [{ seconds }]: [{ seconds: number | null }] = await em.query(
    `select extract(epoch from least(max(finished_at), coalesce(
       (select at from read_marks where name = $1), min(finished_at))))::float8 as seconds
     from reconciliations where trigger <> 'manual'`,
    [comparedMark],
  );
  return seconds ?? undefined;
}

/**
 * Returns the gauges of what is the same for all processes, read from the database. One worker reports them, so that sums over
 * processes are right and many workers cost no more than one.
 */
export function figuresOfDatabase(app: Pick<App, 'metrics' | 'db' | 'config'>, workerId: string): Reader {
  const registers = [app.metrics.registry];
  const queued = new Gauge({
    name: 'deckhand_queued_runs',
    help: 'Runs in the queue, reported by one worker',
    labelNames: ['kind'],
    registers,
  });
  const waiting = new Gauge({
    name: 'deckhand_waiting_runs',
    help: 'Runs that wait for a person, a model or a host, reported by one worker',
    labelNames: ['reason'],
    registers,
  });
  const oldest = new Gauge({
    name: 'deckhand_oldest_queued_run_seconds',
    help: 'How long the oldest run has waited that a worker could claim, reported by one worker',
    registers,
  });
  const swept = new Gauge({
    name: 'deckhand_last_sweep_timestamp_seconds',
    help: 'When tasks were last compared with GitHub and stuck runs recovered, reported by one worker',
    registers,
  });
  return {
    gauges: [queued, waiting, oldest, swept],
    read: async () => {
      const em = app.db.manager;
      if (!(await isFirstWorker(em, workerId))) return;
      for (const { kind, count } of await countQueued(em)) queued.set({ kind }, count);
      for (const { reason, count } of await countWaiting(em)) waiting.set({ reason }, count);
      oldest.set(await oldestClaimable(em, app.config.MAX_RUNS_PER_PROJECT));
      const sweptAt = await lastSweep(em);
      if (sweptAt !== undefined) swept.set(sweptAt);
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { isDatabaseAway } from '../../db/database.ts';
import type { RunRow } from '../../db/tables/run.ts';
import { LeaseLost } from '../../domain/run.ts';
import { follow } from '../../http/events.ts';
import { storeCancelHandoff } from '../../runs/handoffs.ts';
import { concludeRun, insertEvent, openJournal } from '../../runs/journal.ts';
import { lockRun } from '../../runs/store.ts';
import { resumeDueRuns } from '../../runs/waiting/park.ts';
import { hasExpiredWaits, listExpiredWaits } from '../../runs/waiting/store.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { forTenant } from '../../threads/tenant.ts';
import type { Beginning } from '../../tracing/traced.ts';
import { lackOf } from '../retry.ts';
import { runTask } from '../run-task.ts';
import { waitsForOthers } from './labels.ts';
import { type Claim, claimRun, giveBack, handOver, hasClaimable, renewLease } from './lease-store.ts';

/** Handles the `run` job: works on runs until none is left. */
export async function workOnRuns(app: App): Promise<void> {
  await resumeDueRuns(app);
  await cancelExpiredWaits(app);
  await claimAndRun(app);
  // The job may have been sent for a run that needs labels which this worker lacks.
  if (!app.stopping.aborted && (await waitsForOthers(app.db.manager, app.config.RUNS_ON)))
    await app.db.tell('runs', '');
}

/** Works on runs until none is left, or until as many are under way as `MAX_CONCURRENT_RUNS` allows. */
async function claimAndRun(app: App): Promise<void> {
  const { RUN_LEASE_SECONDS, MAX_RUNS_PER_PROJECT, MAX_CONCURRENT_RUNS, RUNS_ON } = app.config;
  const leave = app.liveRuns.enter(MAX_CONCURRENT_RUNS);
  if (leave === undefined) return;
  try {
    while (!app.stopping.aborted) {
      const claim = await claimRun(app.db.manager, RUN_LEASE_SECONDS, MAX_RUNS_PER_PROJECT, RUNS_ON);
      if (claim === undefined) return;
      await holdAndRun(app, claim);
    }
  } finally {
    leave();
  }
}

/**
 * Claims runs that need this worker's labels as soon as another worker says that there may be some. Without that, they would
 * wait until this worker happens to get a `run` job.
 */
export function followLabels(app: App, onError: (error: unknown) => void): void {
  if (app.config.RUNS_ON.length === 0) return;
  const look = async () => {
    // Not awaited, because what is said while it works counts, too.
    claimAndRun(app).catch(onError);
    return false;
  };
  follow(app.stopping, (hear) => app.db.listen('runs', hear), look).catch(onError);
}

/**
 * Queues a `run` job if there is work for one: a run can be claimed, because a notification was lost or a lease has
 * expired, or the wait of a run is over.
 */
export async function queueRunJobIfDue(app: App): Promise<void> {
  const em = app.db.manager;
  const { MAX_RUNS_PER_PROJECT, RUNS_ON } = app.config;
  if (await hasClaimable(em, MAX_RUNS_PER_PROJECT, RUNS_ON)) await queueRunJob(app);
}

/** Queues a `run` job if a run has waited too long. */
export async function queueRunJobIfExpired(app: App): Promise<void> {
  if (await hasExpiredWaits(app.db.manager, app.config.WAIT_DAYS)) await queueRunJob(app);
}

/** Without `unlessWaiting`, every process would add a job with each heartbeat while all workers are busy. */
async function queueRunJob({ db, queue }: App): Promise<void> {
  await queue.send(db.manager, 'run', {}, { unlessWaiting: true });
}

async function holdAndRun(app: App, { run, takenOver }: Claim): Promise<void> {
  const here = app.liveRuns.hold(run.id);
  const stop = () => here.abort(app.stopping.reason);
  app.stopping.addEventListener('abort', stop, { once: true });
  // It may have been asked to stop while it claimed the run.
  if (app.stopping.aborted) stop();
  const began = performance.now();
  app.metrics.liveRuns.inc();
  const heart = setInterval(() => {
    renewLease(app.db.manager, run, app.config.RUN_LEASE_SECONDS).catch((error) => {
      // While the database is unreachable, the lease may expire. That is safe, because every write checks the fence.
      if (error instanceof LeaseLost) here.abort(error);
      else app.log.warn({ err: error, runId: run.id }, 'lease not renewed');
    });
  }, app.config.RUN_HEARTBEAT_SECONDS * 1000);
  try {
    if (takenOver !== undefined) await noteTakeover(app, run, takenOver);
    // The job that claims runs belongs to no tenant.
    await forTenant(run.projectId, () => app.traces.begin(spanOf(run), () => runTask(app, run, here.signal)));
  } catch (error) {
    const isLost = error instanceof LeaseLost || here.signal.reason instanceof LeaseLost;
    if (isLost) app.log.warn({ runId: run.id }, 'run left to the worker that holds it now');
    // While the database is unreachable, the run cannot be given back. Another worker takes it over once its lease
    // expires.
    else if (here.signal.aborted) await handOver(app.db.manager, run).catch(() => {});
    else await interrupt(app, run, error).catch(() => {});
  } finally {
    clearInterval(heart);
    app.stopping.removeEventListener('abort', stop);
    app.liveRuns.letGo(run.id, here);
    app.metrics.liveRuns.dec();
    app.metrics.runSeconds.observe((performance.now() - began) / 1000);
  }
}

/** A run that another worker continues, or that has waited, has one span for each part, in the trace that queued it. */
function spanOf({ id: runId, taskId, kind, agentId, traceparent: parent }: RunRow): Beginning {
  const attributes = { 'deckhand.run.kind': kind, 'gen_ai.agent.id': agentId ?? undefined };
  return { name: `run ${kind}`, kind: 'consumer', parent, ids: { runId, taskId }, attributes };
}

async function noteTakeover(app: App, run: RunRow, { seconds, isGivenBack }: NonNullable<Claim['takenOver']>) {
  app.metrics.takeovers.inc({ cause: isGivenBack ? 'given_back' : 'lost' });
  const lost = 'its worker was lost';
  const text = isGivenBack ? `continued after ${seconds} s` : `${lost}; another worker continues after ${seconds} s`;
  await openJournal(app, run).note('loop', text, isGivenBack ? {} : { interrupted: lost });
}

/** The pause between two tries to give a run back while the database is away. */
const awayMs = 500;

/**
 * Gives the run back for another attempt. The pause before it grows while there is no progress. While the database is
 * away, it tries again: otherwise the run would wait for the end of its lease, as if its worker were lost. If another
 * worker has taken the run over by then, nothing happens.
 */
async function interrupt(app: App, run: RunRow, error: unknown): Promise<void> {
  app.log.error({ err: error, runId: run.id }, 'run interrupted');
  const seconds = await onceDatabaseAnswers(app, () => giveBack(app.db.manager, run));
  if (seconds === undefined) return;
  const why = lackOf(error) ?? 'an internal error occurred; the log of the service has the details';
  await openJournal(app, run).note('loop', `${why}; trying again in ${Math.round(seconds)} s`, { interrupted: why });
  await app.queue.send(undefined, 'run', {}, { afterSeconds: Math.ceil(seconds) });
}

async function onceDatabaseAnswers<T>({ stopping }: App, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await sleep(awayMs, undefined, { signal: stopping });
    }
}

/** Cancels the runs that have waited for a person for longer than `WAIT_DAYS`. Their branches are kept. */
export async function cancelExpiredWaits(app: App): Promise<void> {
  for (const { runId, taskId } of await listExpiredWaits(app.db.manager, app.config.WAIT_DAYS))
    await app.db.transaction((em) => cancelIfExpired(app, em, { runId, taskId }));
}

async function cancelIfExpired(
  app: App,
  em: EntityManager,
  { runId, taskId }: { runId: string; taskId: string },
): Promise<void> {
  const { WAIT_DAYS } = app.config;
  await lockRun(em, runId);
  // Somebody may have answered in the meantime.
  if ((await listExpiredWaits(em, WAIT_DAYS, runId)).length === 0) return;
  const days = `${WAIT_DAYS} ${WAIT_DAYS === 1 ? 'day' : 'days'}`;
  const why = `Nobody reacted for ${days}, so the run was cancelled. Its branch is kept; retry continues it.`;
  await tryMoveTask(app, em, taskId, 'cancel');
  await concludeRun(app, em, { id: runId, taskId }, 'cancelled');
  await storeCancelHandoff(app, em, { id: runId, taskId }, why);
  await insertEvent(em, runId, 'cancelled', why, { waitDays: WAIT_DAYS });
}

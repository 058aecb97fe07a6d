import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { ModelUnavailable } from '../../conversation/ending.ts';
import { newId } from '../../db/ids.ts';
import type { RunRow } from '../../db/tables/run.ts';
import type { Failure } from '../../domain/run.ts';
import { hostPause, modelPause } from '../../domain/waiting.ts';
import { queueMirror } from '../../tasks/move.ts';
import { touchTask } from '../../tasks/store.ts';
import { insertEvent, type Journal } from '../journal.ts';
import { findRun } from '../store.ts';
import {
  addHostPause,
  addModelPause,
  endHostWaits,
  insertPlan,
  queueDueRuns,
  type StoredWait,
  setWaiting,
} from './store.ts';

/**
 * Lets a run wait for its model, so that it holds no worker, lease or slot. Any worker continues it from its journal.
 * Returns the failure of the run when it has waited as long as it may.
 */
export async function waitForModel(
  app: App,
  run: RunRow,
  journal: Journal,
  away: ModelUnavailable,
): Promise<Failure | undefined> {
  const seconds = await journal.write(async (em) => {
    const { modelPauses, modelPauseSeconds } = (await findRun(em, run.id)) ?? run;
    const pause = modelPause({ count: modelPauses, totalSeconds: modelPauseSeconds }, away.retryAfterMs);
    if (pause === undefined) return undefined;
    await addModelPause(em, run.id, pause);
    await park(app, em, run, { id: newId('wait'), reason: 'model', text: away.message, options: [], seconds: pause });
    return pause;
  });
  if (seconds === undefined) return away.failure;
  await app.queue.send(undefined, 'run', {}, { afterSeconds: Math.ceil(seconds) });
  return undefined;
}

/** A git host, or GitHub, that is unavailable. */
export interface HostOutage {
  /** What the run fails with when it has waited for `WAIT_DAYS`. */
  failure: Failure;
  /** How long the host asked to wait. Another run that reaches the host does not end such a wait. */
  askedMs: number | undefined;
}

/**
 * Lets a run wait for a host, as `waitForModel` does. It continues as soon as another run reaches the host, or at the
 * latest after a pause, which grows. Returns the failure of the run when it has waited for `WAIT_DAYS`.
 */
export async function waitForHost(
  app: App,
  run: RunRow,
  journal: Journal,
  { failure, askedMs }: HostOutage,
): Promise<Failure | undefined> {
  const { WAIT_DAYS } = app.config;
  const seconds = await journal.write(async (em) => {
    const { earlier, days } = await addHostPause(em, run.id, askedMs === undefined);
    if (WAIT_DAYS > 0 && days > WAIT_DAYS) return undefined;
    const pause = hostPause(earlier, askedMs);
    await park(app, em, run, { id: newId('wait'), reason: 'host', text: failure.message, options: [], seconds: pause });
    return pause;
  });
  if (seconds === undefined) return failure;
  await app.queue.send(undefined, 'run', {}, { afterSeconds: Math.ceil(seconds) });
  return undefined;
}

/** Lets the runs continue that wait for the host which this run has reached. */
export async function noteHostReached(app: App, run: RunRow): Promise<void> {
  if ((await endHostWaits(app.db.manager, run)) > 0) await app.queue.send(undefined, 'run', {});
}

/** Lets a run wait, in the caller's transaction, which has locked the run. */
export async function park(app: App, em: EntityManager, run: RunRow, wait: StoredWait): Promise<void> {
  const { id, reason, text, options, seconds, plan } = wait;
  const pause = seconds === null ? '' : ` for ${Math.ceil(seconds)} s`;
  const { files, checks } = plan ?? {};
  await insertEvent(em, run.id, 'waiting', `waiting${pause}: ${text}`, { reason, options, files, checks });
  await setWaiting(em, run.id, wait);
  if (plan !== undefined) await insertPlan(em, { id, runId: run.id, taskId: run.taskId }, plan);
  await showAttention(app, em, run.taskId);
}

/** Queues the runs whose wait is over, so that they can be claimed. */
export async function resumeDueRuns(app: App): Promise<void> {
  await app.db.transaction(async (em) => {
    const taskIds = await queueDueRuns(em);
    for (const id of taskIds) await showAttention(app, em, id);
  });
}

/** Announces that `attention` of a task changed. */
export async function showAttention(app: App, em: EntityManager, taskId: string): Promise<void> {
  await touchTask(em, taskId);
  await queueMirror(app, em, taskId);
}

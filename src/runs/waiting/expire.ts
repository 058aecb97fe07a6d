import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { storeCancelHandoff } from '../handoffs.ts';
import { insertEvent } from '../journal.ts';
import { endRun, lockRun } from '../store.ts';
import { listExpiredWaits } from './store.ts';

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
  await endRun(em, runId, 'cancelled', null);
  await storeCancelHandoff(app, em, { id: runId, taskId }, why);
  await insertEvent(em, runId, 'cancelled', why, { waitDays: WAIT_DAYS });
}

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { failure } from '../../domain/run.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { continueIn } from '../split.ts';
import {
  insertReconciliation,
  listStuckTasks,
  lockReconciliations,
  type Reconciliation,
  type StuckTask,
} from './reconcile-store.ts';

/**
 * Recovers stuck tasks: runs whose worker was lost, tasks in progress without a run, and parents whose subtasks are
 * done. Covers the projects of a user, or all if `userId` is null. A lock prevents two reconciliations at the same
 * time. `caughtUp` lists tasks that the caller has already recovered; they are recorded with the others.
 */
export async function reconcile(
  app: App,
  trigger: Reconciliation['trigger'],
  userId: string | null,
  caughtUp: Reconciliation['recovered'] = [],
): Promise<Reconciliation> {
  const startedAt = new Date();
  return app.db.transaction(async (em) => {
    await lockReconciliations(em);
    const { checked, stuck } = await listStuckTasks(em, userId);
    const recovered = [...caughtUp];
    for (const task of stuck) {
      const done = await recover(app, em, task);
      if (done !== undefined && !recovered.some((r) => r.taskId === task.id))
        recovered.push({ taskId: task.id, ...done });
    }
    const result = {
      id: newId('recon'),
      trigger,
      startedAt,
      finishedAt: new Date(),
      checked: checked.length,
      recovered,
    };
    await insertReconciliation(em, result, userId, checked);
    return result;
  });
}

async function recover(
  app: App,
  em: EntityManager,
  task: StuckTask,
): Promise<{ action: string; reason: string } | undefined> {
  if (task.hasLapsedRun) {
    await app.queue.send(em, 'run', {});
    return { action: 'continued', reason: 'the worker of its run was lost; another worker continues the run' };
  }
  if (task.status === 'waiting_on_subtasks') {
    const status = await tryMoveTask(app, em, task.id, 'join');
    if (status === 'in_progress') await continueIn(app, em, task.id);
    return status && { action: 'joined', reason: `all its subtasks are done; it is now ${status}` };
  }
  if (await continueIn(app, em, task.id))
    return { action: 'continued', reason: 'all its subtasks are done; a new run continues it' };
  const lost = failure('internal', 'the run was lost');
  const status = await tryMoveTask(app, em, task.id, 'fail', { failure: lost });
  return status && { action: 'failed', reason: `it was in progress without a run; it is now ${status}` };
}

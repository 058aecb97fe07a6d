import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { failure } from '../../domain/run.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { continueIn } from '../split.ts';
import { insertReconciliation, listStuckTasks, type StuckTask } from './reconcile-store.ts';

export interface Reconciliation {
  id: string;
  startedAt: Date;
  finishedAt: Date;
  trigger: 'manual' | 'scheduled' | 'start';
  /** How many unfinished tasks were looked at. */
  checked: number;
  recovered: { taskId: string; action: string; reason: string }[];
}

/**
 * Puts right what fell by the wayside: runs whose worker is gone, tasks in progress without a run, parents whose
 * subtasks are done. Of a user's projects, or of all (`userId` null). Two at once take turns. `caughtUp` is what was
 * put right before and belongs to the same record.
 */
export async function reconcile(
  app: App,
  trigger: Reconciliation['trigger'],
  userId: string | null,
  caughtUp: Reconciliation['recovered'] = [],
): Promise<Reconciliation> {
  const startedAt = new Date();
  return app.db.transaction(async (em) => {
    await em.query('select pg_advisory_xact_lock(hashtextextended($1, 6))', ['reconcile']);
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
    return { action: 'continued', reason: 'the worker of its run is gone; another one goes on' };
  }
  if (task.status === 'waiting_on_subtasks') {
    const status = await tryMoveTask(app, em, task.id, 'join');
    if (status === 'in_progress') await continueIn(app, em, task.id);
    return status && { action: 'joined', reason: `every subtask is done; it is ${status} now` };
  }
  if (await continueIn(app, em, task.id))
    return { action: 'continued', reason: 'its subtasks are done; a run goes on with it' };
  const lost = failure('internal', 'its run was lost; retry');
  const status = await tryMoveTask(app, em, task.id, 'fail', { failure: lost });
  return status && { action: 'failed', reason: `it was in progress without a run; it is ${status} now` };
}

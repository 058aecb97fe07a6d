import type { App } from '../app.ts';
import { exhaustedDay } from '../domain/budget.ts';
import { Refused } from '../domain/machine.ts';
import { type Failure, failure } from '../domain/run.ts';
import { AppError } from '../errors.ts';
import { limitsOf } from '../projects/budgets.ts';
import { creatorOf, personDayIsOver } from '../projects/person-budget.ts';
import { startTask } from '../runs/operations.ts';
import { costOfDay } from '../runs/spend/store.ts';
import { showTask } from '../tasks/move.ts';
import { listProjectsWithActiveSprint, listStartable, setFailure } from './advance-store.ts';
import { findActiveSprint } from './store.ts';

/**
 * Starts the tasks of a project's active sprint that have an owner, whose dependencies are done, and that have never
 * run. A task that has run is started again only by a person. If a task cannot start, the reason is stored as its
 * failure, and the next call tries again.
 */
export async function advanceSprint(app: App, projectId: string): Promise<void> {
  const sprint = await findActiveSprint(app.db.manager, projectId);
  if (sprint === undefined) return;
  for (const taskId of await listStartable(app.db.manager, sprint.id)) {
    const reason = await dayIsOver(app, projectId);
    if (reason !== undefined) {
      await showFailure(app, taskId, failure('budget', reason));
      continue;
    }
    try {
      await startTask(app, { taskId, startedBy: sprint.startedBy, isAutomatic: true, kind: 'start' });
    } catch (error) {
      const why = reasonOf(error);
      if (why === undefined) throw error;
      await showFailure(app, taskId, why);
    }
  }
}

/** Returns why no further run may start today; undefined while the budgets of the project and of its creator last. */
async function dayIsOver(app: App, projectId: string): Promise<string | undefined> {
  const { dayCostUsd } = await limitsOf(app, projectId);
  const em = app.db.manager;
  const usedUp =
    exhaustedDay(dayCostUsd, await costOfDay(em, projectId)) ??
    (await personDayIsOver(app, await creatorOf(em, projectId)));
  return usedUp && `${usedUp}; the task starts tomorrow`;
}

/** Returns why a start was refused; undefined for any other error. */
function reasonOf(error: unknown): Failure | undefined {
  // Listed tasks meet all other conditions of a start, so the reason is the repository or the owner.
  if (error instanceof Refused) return failure('repository', `The task could not be started. ${error.message}`);
  if (!(error instanceof AppError)) return undefined;
  return failure(error.status === 503 ? 'auth' : 'repository', `The task could not be started. ${error.message}`);
}

async function showFailure(app: App, taskId: string, why: Failure): Promise<void> {
  if (await setFailure(app.db.manager, taskId, why)) await showTask(app, undefined, taskId);
}

/** Queues a check of every active sprint. Called periodically, because an event may have been lost. */
export async function advanceAllSprints(app: App): Promise<void> {
  for (const projectId of await listProjectsWithActiveSprint(app.db.manager))
    await app.queue.send(undefined, 'sprint', { projectId }, { key: projectId });
}

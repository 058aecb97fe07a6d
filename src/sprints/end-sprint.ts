import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { Role } from '../domain/agent.ts';
import type { Caller } from '../http/access/access.ts';
import { assertRole } from '../http/access/scope.ts';
import { type Route, route } from '../http/route.ts';
import { cancelIfRunning } from '../runs/operations.ts';
import { findLiveRun } from '../runs/store.ts';
import { showSprint, sprintAfter } from './operations.ts';
import { onSprint } from './routes.ts';
import { DeleteSprint, Sprint } from './schemas.ts';
import {
  deleteSprintRow,
  getSprint,
  type LiveRun,
  listLiveRuns,
  lockSprint,
  lockUnfinished,
  moveToSprint,
  type SprintView,
  setSprintStatus,
} from './store.ts';

/**
 * Cancels a sprint and its runs. Removes its unfinished tasks from it. `isAgain` means that an earlier attempt was
 * interrupted; jobs cancel the runs that it left.
 * @throws Refused unless it is active
 */
async function cancelSprint(app: App, sprintId: string, isAgain = false): Promise<SprintView> {
  const live = await app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, sprintId);
    if (isAgain && sprint.status === 'cancelled') {
      app.audit.note({});
      return [];
    }
    const unfinished = await lockUnfinished(em, sprintId);
    await setSprintStatus(em, sprintId, sprintAfter(sprint.status, 'cancel'));
    app.audit.note({ status: [sprint.status, 'cancelled'] });
    await showSprint(app, em, sprint);
    await moveToSprint(em, unfinished, null);
    return queueCancels(app, em, unfinished);
  });
  for (const { taskId, runId } of live) await cancelSprintRun(app, taskId, runId);
  return getSprint(app.db.manager, sprintId);
}

/**
 * Deletes a sprint. Its tasks stay, without a sprint. Deleting an active sprint requires `isForced` and the admin role.
 * @throws Refused; AppError 403
 */
async function deleteSprint(
  app: App,
  { id }: SprintView,
  caller: { user: Caller; role: Role },
  isForced: boolean,
): Promise<void> {
  const live = await app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    const isActive = sprint.status === 'active';
    if (isActive && isForced) assertRole(caller, 'admin');
    if (isActive) sprintAfter(sprint.status, 'delete', { isForced });
    const unfinished = await lockUnfinished(em, id);
    await showSprint(app, em, sprint);
    await deleteSprintRow(em, id);
    app.audit.note({ name: [sprint.name, null] });
    return isActive ? queueCancels(app, em, unfinished) : [];
  });
  for (const { taskId, runId } of live) await cancelSprintRun(app, taskId, runId);
}

/**
 * Queues the cancellation of live runs, so that it survives a crash. Returns the runs, so that the caller can also
 * cancel them immediately.
 */
async function queueCancels(app: App, em: EntityManager, taskIds: string[]): Promise<LiveRun[]> {
  const live = await listLiveRuns(em, taskIds);
  for (const run of live) await app.queue.send(em, 'cancel', run, { afterSeconds: 5 });
  return live;
}

/** Handles the `cancel` job: cancels a run, unless it has ended or the task has a newer run. */
export async function cancelSprintRun(app: App, taskId: string, runId: string): Promise<void> {
  if ((await findLiveRun(app.db.manager, taskId))?.id !== runId) return;
  await cancelIfRunning(app, taskId);
}

/** The operations on sprints that end runs. */
export const sprintRunRoutes: Route[] = [
  route({
    operationId: 'cancelSprint',
    method: 'post',
    path: '/sprints/:sprintId/cancel',
    summary: 'Cancel a sprint and its runs. Its unfinished tasks are removed from it',
    guide: 'Cancel a sprint and its runs. Unfinished tasks leave it. Ask your person first.',
    tag: 'sprints',
    access: onSprint('member'),
    audit: { action: 'sprint.cancel', object: ({ sprint }) => sprint },
    reply: [200, Sprint],
    errors: { 409: 'The sprint is not active' },
    // Each run is cancelled in a transaction of its own, which may wait for a push that is under way.
    waits: 'between writes',
    handle: (app, { sprint, keyed }) => cancelSprint(app, sprint.id, keyed?.isAgain),
  }),
  route({
    operationId: 'deleteSprint',
    method: 'delete',
    path: '/sprints/:sprintId',
    summary: 'Delete a sprint but keep its tasks. Deleting an active sprint requires `force=true` and the admin role',
    tag: 'sprints',
    access: onSprint('member'),
    audit: { action: 'sprint.delete', object: ({ sprint }) => sprint },
    query: DeleteSprint,
    reply: [204],
    errors: { 409: 'The sprint is active' },
    waits: 'between writes',
    handle: (app, { sprint, user, role, query }) => deleteSprint(app, sprint, { user, role }, query.force),
  }),
];

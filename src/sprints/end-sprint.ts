import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { hasRole, type Role } from '../domain/member.ts';
import { requiresRole } from '../errors.ts';
import { cancelIfRunning } from '../runs/operations.ts';
import { findLiveRun } from '../runs/store.ts';
import { showSprint, sprintAfter } from './operations.ts';
import { getSprint, lockSprint, lockUnfinished, moveToSprint, type SprintView, setSprintStatus } from './store.ts';

/** Stops a sprint: its runs are cancelled, what is unfinished belongs to no sprint any more. @throws Refused */
export async function cancelSprint(app: App, sprintId: string): Promise<SprintView> {
  const live = await app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, sprintId);
    const unfinished = await lockUnfinished(em, sprintId);
    await setSprintStatus(em, sprintId, sprintAfter(sprint.status, 'cancel'));
    await showSprint(app, em, sprintId);
    await moveToSprint(em, unfinished, null);
    return stopRunsOf(app, em, unfinished);
  });
  for (const { taskId, runId } of live) await cancelRun(app, taskId, runId);
  return getSprint(app.db.manager, sprintId);
}

/**
 * Deletes a sprint; its tasks stay and belong to none. An active one only by force, by an admin.
 * @throws Refused; AppError 403
 */
export async function deleteSprint(app: App, { id }: SprintView, role: Role, isForced: boolean): Promise<void> {
  const live = await app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    const isActive = sprint.status === 'active';
    if (isActive && isForced && !hasRole(role, 'admin')) throw requiresRole('admin');
    if (isActive) sprintAfter(sprint.status, 'delete', { isForced });
    const unfinished = await lockUnfinished(em, id);
    await showSprint(app, em, id);
    await em.query('delete from sprints where id = $1', [id]);
    return isActive ? stopRunsOf(app, em, unfinished) : [];
  });
  for (const { taskId, runId } of live) await cancelRun(app, taskId, runId);
}

interface LiveRun {
  taskId: string;
  runId: string;
}

/** Has the live runs of tasks cancelled, also when this process ends before it did so itself; answers them. */
async function stopRunsOf(app: App, em: EntityManager, taskIds: string[]): Promise<LiveRun[]> {
  const live: LiveRun[] = await em.query(
    `select task_id as "taskId", id as "runId" from runs where task_id = any($1) and status in ('queued', 'running')`,
    [taskIds],
  );
  for (const run of live) await app.queue.send(em, 'cancel', run, { afterSeconds: 5 });
  return live;
}

/** Cancels a run unless it has ended by itself or another one has followed it; the handler of the `cancel` job. */
export async function cancelRun(app: App, taskId: string, runId: string): Promise<void> {
  if ((await findLiveRun(app.db.manager, taskId))?.id !== runId) return;
  await cancelIfRunning(app, taskId);
}

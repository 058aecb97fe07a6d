import type { App } from '../app.ts';
import { Refused } from '../domain/machine.ts';
import { hasRole, type Role } from '../domain/member.ts';
import { requiresRole } from '../errors.ts';
import { showSprint, sprintAfter } from '../sprints/operations.ts';
import {
  getSprint,
  lockSprint,
  lockUnfinished,
  moveToSprint,
  type SprintView,
  setSprintStatus,
} from '../sprints/store.ts';
import { cancelTask } from './operations.ts';

/** Stops a sprint: its runs are cancelled, what is unfinished belongs to no sprint any more. @throws Refused */
export async function cancelSprint(app: App, sprintId: string): Promise<SprintView> {
  sprintAfter((await getSprint(app.db.manager, sprintId)).status, 'cancel');
  await cancelRunsOf(app, sprintId);
  const left = await app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, sprintId);
    const unfinished = await lockUnfinished(em, sprintId);
    await setSprintStatus(em, sprintId, sprintAfter(sprint.status, 'cancel'));
    await showSprint(app, em, sprintId);
    await moveToSprint(em, unfinished, null);
    return unfinished;
  });
  // Started by somebody between the two.
  await cancelTasks(app, left);
  return getSprint(app.db.manager, sprintId);
}

/**
 * Deletes a sprint; its tasks stay and belong to none. An active one only by force, by an admin.
 * @throws Refused; AppError 403
 */
export async function deleteSprint(app: App, { id, status }: SprintView, role: Role, isForced: boolean): Promise<void> {
  if (status === 'active') {
    if (isForced && !hasRole(role, 'admin')) throw requiresRole('admin');
    sprintAfter(status, 'delete', { isForced });
    await cancelRunsOf(app, id);
  }
  const left = await app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    // Started meanwhile.
    if (sprint.status === 'active')
      sprintAfter(sprint.status, 'delete', { isForced: isForced && hasRole(role, 'admin') });
    const unfinished = await lockUnfinished(em, id);
    await showSprint(app, em, id);
    await em.query('delete from sprints where id = $1', [id]);
    return sprint.status === 'active' ? unfinished : [];
  });
  await cancelTasks(app, left);
}

async function cancelRunsOf(app: App, sprintId: string): Promise<void> {
  const rows: { id: string }[] = await app.db.manager.query(
    `select t.id from tasks t where t.sprint_id = $1
       and exists (select 1 from runs r where r.task_id = t.id and r.status in ('queued', 'running'))`,
    [sprintId],
  );
  await cancelTasks(
    app,
    rows.map((r) => r.id),
  );
}

async function cancelTasks(app: App, taskIds: string[]): Promise<void> {
  for (const taskId of taskIds)
    await cancelTask(app, taskId).catch((error) => {
      // Nothing runs, or it ended by itself meanwhile.
      if (!(error instanceof Refused)) throw error;
    });
}

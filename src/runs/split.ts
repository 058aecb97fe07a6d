import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { type RunRow, Tasks } from '../db/work-tables.ts';
import { moveTask, tryMoveTask } from '../tasks/move.ts';
import { insertTask } from '../tasks/operations.ts';
import { getTask, type TaskView } from '../tasks/store.ts';
import type { NewSubtask } from './agent/tools.ts';
import { queueRun } from './operations.ts';
import { findLiveRun } from './store.ts';

/** Makes the subtasks that an agent split its task into, and starts them; the task waits for them. */
export async function splitTask(
  app: App,
  em: EntityManager,
  run: RunRow,
  parent: TaskView,
  subtasks: NewSubtask[],
): Promise<void> {
  const status = await tryMoveTask(app, em, parent.id, 'split', { facts: { splitByAgent: true } });
  // Merged or closed by somebody meanwhile: there is nothing to split any more.
  if (status !== 'waiting_on_subtasks') return;
  await em.update(Tasks, { id: parent.id }, { splitByAgent: true });
  const { owner, repositoryId, sprintId } = await getTask(em, parent.id);
  for (const { title, description } of subtasks) {
    const id = await insertTask(app, em, parent.projectId, {
      title,
      description,
      status: 'ready',
      owner: owner ?? undefined,
      repositoryId: repositoryId ?? undefined,
      sprintId: sprintId ?? undefined,
      parentId: parent.id,
      // Made by a model, so by nobody; its runs are paid from the parent's budget.
      createdBy: null,
    });
    if (owner === null) continue;
    await moveTask(app, em, id, 'start');
    await queueRun(app, em, id, { kind: 'start', startedBy: run.startedBy });
  }
}

/** Goes on with a task whose subtasks are done, when its own agent had split it; the handler of the `continue` job. */
export async function continueTask(app: App, taskId: string): Promise<void> {
  await app.db.transaction((em) => continueIn(app, em, taskId));
}

/** The same inside a transaction; false when there is nothing to go on with. */
export async function continueIn(app: App, em: EntityManager, taskId: string): Promise<boolean> {
  await em.query('select 1 from tasks where id = $1 for no key update', [taskId]);
  const task = await getTask(em, taskId).catch(() => undefined);
  if (task === undefined || task.status !== 'in_progress' || !task.splitByAgent || task.owner === null) return false;
  if ((await findLiveRun(em, taskId)) !== null) return false;
  await em.update(Tasks, { id: taskId }, { splitByAgent: false });
  const [last] = await em.query(
    'select started_by as "startedBy" from runs where task_id = $1 order by created_at desc, id desc limit 1',
    [taskId],
  );
  await queueRun(app, em, taskId, { kind: 'continue', startedBy: last?.startedBy ?? null });
  return true;
}

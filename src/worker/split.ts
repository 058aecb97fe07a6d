import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { NewSubtask } from '../conversation/tools/tool.ts';
import type { RunRow } from '../db/tables/run.ts';
import { RunFailed } from '../domain/run.ts';
import { maxSubtasks, tooManySubtasks } from '../domain/task.ts';
import { directorsOf, listOpened, listTextPlaces } from '../runs/directors.ts';
import { queueRun } from '../runs/operations.ts';
import { findLiveRun } from '../runs/store.ts';
import { moveTask, tryMoveTask } from '../tasks/move.ts';
import { insertTask } from '../tasks/operations.ts';
import {
  countSubtasks,
  findTask,
  fitsSprint,
  getTask,
  lockTask,
  setTaskFields,
  type TaskView,
} from '../tasks/store.ts';
import { listLatestRuns } from '../tasks/work-store.ts';

/**
 * Creates and starts the subtasks that an agent split its task into. The task then waits for them.
 * @throws RunFailed when it would have more than a task may have
 */
export async function splitTask(
  app: App,
  em: EntityManager,
  run: RunRow,
  parent: TaskView,
  subtasks: NewSubtask[],
): Promise<void> {
  // People may have added some since the agent was offered to split it.
  if ((await countSubtasks(em, parent.id)) + subtasks.length > maxSubtasks)
    throw new RunFailed('gave_up', `${tooManySubtasks} The agent wanted to add ${subtasks.length} more.`);
  const status = await tryMoveTask(app, em, parent.id, 'split', { facts: { splitByAgent: true } });
  // The task's pull request may have been merged or closed during the run. Then there is nothing left to split.
  if (status !== 'waiting_on_subtasks') return;
  await setTaskFields(em, parent.id, { splitByAgent: true });
  const { owner, repositoryId, base, sprintId: sprint, responsible } = await getTask(em, parent.id);
  // A full sprint does not hold up the work.
  const sprintId = sprint !== null && (await fitsSprint(em, sprint, subtasks.length)) ? sprint : null;
  const directedBy = await directorsOf(em, run.id);
  const places = [...(await listOpened(em, run.id, null)), ...(await listTextPlaces(em, parent.id))];
  const textRepositoryIds = [...new Set(places)];
  for (const { title, description } of subtasks) {
    const id = await insertTask(app, em, parent.projectId, {
      title,
      description,
      status: 'ready',
      owner: owner ?? undefined,
      repositoryId: repositoryId ?? undefined,
      base,
      sprintId: sprintId ?? undefined,
      parentId: parent.id,
      responsible,
      // Null marks subtasks created by a model. Their runs count against the budget of the parent.
      createdBy: null,
      directedBy,
      textRepositoryIds,
    });
    if (owner === null) continue;
    await moveTask(app, em, id, 'start');
    await queueRun(app, em, id, { kind: 'start', startedBy: run.startedBy, isAutomatic: true });
  }
}

/** Handles the `continue` job: continues a task that its own agent had split, once its subtasks are done. */
export async function continueTask(app: App, taskId: string): Promise<void> {
  await app.db.transaction((em) => continueIn(app, em, taskId));
}

/**
 * Continues a task that its own agent had split, in the caller's transaction. Returns false when there is nothing to
 * continue.
 */
export async function continueIn(app: App, em: EntityManager, taskId: string): Promise<boolean> {
  await lockTask(em, taskId);
  const task = await findTask(em, taskId);
  if (task === undefined || task.status !== 'in_progress' || !task.splitByAgent || task.owner === null) return false;
  if ((await findLiveRun(em, taskId)) !== null) return false;
  await setTaskFields(em, taskId, { splitByAgent: false });
  const [last] = await listLatestRuns(em, taskId, 1);
  await queueRun(app, em, taskId, { kind: 'continue', startedBy: last?.startedBy ?? null, isAutomatic: true });
  return true;
}

import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { Tasks } from '../db/work-tables.ts';
import { Refused } from '../domain/machine.ts';
import type { TaskEvent, TaskStatus } from '../domain/task.ts';
import { badField, badRequest } from '../errors.ts';
import { advanceSprints, joinParent, moveTask, showTask } from './move.ts';
import { dependencyProblems, insertTask, ownerProblems, repositoryProblems } from './operations.ts';
import type { CreateSubtask, UpdateTask } from './schemas.ts';
import {
  getTask,
  hasLiveRunBelow,
  lockDependencies,
  lockSprintForTask,
  reachableFrom,
  replaceDependencies,
  type TaskView,
} from './store.ts';

type Update = z.output<typeof UpdateTask>;

const byHand: Partial<Record<TaskStatus, TaskEvent>> = { backlog: 'to_backlog', ready: 'to_ready', done: 'to_done' };

/** Changes what was given and nothing else (decisions, section 5). @throws Refused, AppError 400 */
export async function updateTask(app: App, taskId: string, userId: string, input: Update): Promise<TaskView> {
  return app.db.transaction(async (em) => {
    // Before the row, or two changes that name each other's task would wait for each other.
    if (input.dependsOn !== undefined) await lockDependencies(em, (await getTask(em, taskId)).projectId);
    await em.query('select 1 from tasks where id = $1 for no key update', [taskId]);
    const task = await getTask(em, taskId);
    await checkReferences(em, task, userId, input);
    await refuseUnfit(em, task, input);
    const { status, dependsOn, ...fields } = input;
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    if (dependsOn !== undefined) await setDependencies(em, task, dependsOn);
    if (Object.keys(given).length > 0 || dependsOn !== undefined)
      await em.update(Tasks, { id: taskId }, { ...given, updatedAt: new Date() });
    if (status !== undefined && status !== task.status) await moveByHand(app, em, task, status);
    await showTask(app, em, taskId);
    await advanceSprints(app, em, task.projectId);
    return getTask(em, taskId);
  });
}

async function checkReferences(em: EntityManager, task: TaskView, userId: string, input: Update): Promise<void> {
  const isNewOwner = input.owner !== task.owner;
  const problems = [
    ...(isNewOwner ? await ownerProblems(em, task.projectId, userId, input.owner ?? undefined) : []),
    ...(await dependencyProblems(em, task.projectId, input.dependsOn ?? [])),
    ...(await repositoryProblems(em, task.projectId, input.repositoryId)),
  ];
  if (problems.length > 0) throw badRequest(problems);
}

async function refuseUnfit(em: EntityManager, task: TaskView, input: Update): Promise<void> {
  const touched = (['owner', 'status', 'repositoryId', 'dependsOn'] as const).filter((name) => {
    const [before, after] = [task[name], input[name]];
    if (after === undefined) return false;
    return name === 'dependsOn'
      ? [...new Set(after as string[])].sort().join() !== task.dependsOn.join()
      : before !== after;
  });
  if (touched.length > 0 && (await isLive(em, task.id)))
    throw new Refused(`changing ${touched.join(', ')} requires no queued or running run, found one; cancel it first`);
  if (touched.includes('repositoryId') && task.branchName !== null)
    throw new Refused(`changing repositoryId requires a task without a branch, found ${task.branchName}`);
}

async function isLive(em: EntityManager, taskId: string): Promise<boolean> {
  const rows = await em.query(`select 1 from runs where task_id = $1 and status in ('queued', 'running')`, [taskId]);
  return rows.length > 0;
}

/** @throws AppError 400 when the task would wait for itself */
async function setDependencies(em: EntityManager, task: TaskView, dependsOn: string[]): Promise<void> {
  const ids = [...new Set(dependsOn)];
  if ((await reachableFrom(em, ids)).has(task.id))
    throw badField('dependsOn', 'dependsOn: the task would depend on itself, directly or over others');
  await replaceDependencies(em, task.id, ids);
}

async function moveByHand(app: App, em: EntityManager, task: TaskView, status: TaskStatus): Promise<void> {
  const event = byHand[status];
  if (event === undefined) throw new Refused(`status ${status} is not set by hand, found ${task.status}`);
  await moveTask(app, em, task.id, event);
}

/** Adds a subtask; the parent waits for it. It takes owner and repository of the parent. */
export async function addSubtask(
  app: App,
  parentId: string,
  userId: string,
  input: z.output<typeof CreateSubtask>,
  also?: (em: EntityManager) => Promise<void>,
) {
  return app.db.transaction(async (em) => {
    await moveTask(app, em, parentId, 'split');
    const parent = await getTask(em, parentId);
    await em.update(Tasks, { id: parentId }, { splitByAgent: false });
    const id = await insertTask(app, em, parent.projectId, {
      ...input,
      status: 'backlog',
      owner: parent.owner ?? undefined,
      repositoryId: parent.repositoryId ?? undefined,
      // A sprint that has ended takes nothing in; the subtask then belongs to none.
      sprintId: await openSprintOf(em, parent),
      parentId,
      createdBy: userId,
    });
    await also?.(em);
    return getTask(em, id);
  });
}

async function openSprintOf(em: EntityManager, { sprintId, projectId }: TaskView): Promise<string | undefined> {
  if (sprintId === null) return undefined;
  const status = await lockSprintForTask(em, projectId, sprintId);
  return status === 'planning' || status === 'active' ? sprintId : undefined;
}

/** Deletes a task and its subtasks; what depended on them waits no longer. @throws Refused while one of them runs */
export async function deleteTask(app: App, task: TaskView): Promise<void> {
  await app.db.transaction(async (em) => {
    // Subtasks first: one that is done holds its own row when it asks for its parent's.
    await em.query('select 1 from tasks where id = $1 or parent_id = $1 order by parent_id is null, id for update', [
      task.id,
    ]);
    if (await hasLiveRunBelow(em, task.id))
      throw new Refused(
        'delete requires no queued or running run of the task or a subtask, found one; cancel it first',
      );
    await em.delete(Tasks, { id: task.id });
    await advanceSprints(app, em, task.projectId);
    if (task.parentId !== null) await joinParent(app, em, task.parentId);
  });
}

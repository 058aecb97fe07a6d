import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import { changesBetween } from '../domain/audit.ts';
import { type Forecast, noForecast } from '../domain/forecast/forecast.ts';
import { nextState, Refused } from '../domain/machine.ts';
import {
  lengthProblem,
  type SprintEvent,
  type SprintFacts,
  type SprintStatus,
  sprintMachine,
} from '../domain/sprint.ts';
import { badField, badRequest, notFound } from '../errors.ts';
import { idOrEmpty } from '../http/access/access.ts';
import { lockProjectRow } from '../repositories/store.ts';
import { advanceSprints, queueMirror } from '../tasks/move.ts';
import { getTasks, type TaskView } from '../tasks/store.ts';
import { storeDigest } from './digest.ts';
import { forecastOf } from './forecast.ts';
import type { CreateSprint, UpdateSprint } from './schemas.ts';
import {
  findActiveSprint,
  findSprint,
  getSprint,
  insertSprint,
  listTasksWithIssue,
  lockSprint,
  lockUnfinished,
  moveToSprint,
  type SprintView,
  setSprintStatus,
  tasksForSprint,
  updateSprintRow,
} from './store.ts';

const defaultFacts: SprintFacts = { hasOtherActive: false, unfinishedTasks: [], carriesOver: false, isForced: false };

/**
 * Returns the status after an event that a person requested.
 * @throws Refused when the state machine forbids the event
 */
export function sprintAfter(status: SprintStatus, event: SprintEvent, facts: Partial<SprintFacts> = {}): SprintStatus {
  return nextState(sprintMachine, status, event, { ...defaultFacts, ...facts });
}

export async function createSprint(
  app: App,
  projectId: string,
  userId: string,
  input: z.output<typeof CreateSprint>,
): Promise<SprintView> {
  const id = newId('sprint');
  await insertSprint(app.db.manager, { id, projectId, ...input }, [userId]);
  app.audit.note({ name: [null, input.name] });
  return getSprint(app.db.manager, id);
}

/**
 * Changes the given fields of a sprint.
 * @throws Refused for a sprint that has ended; AppError 400 for a last day before the first
 */
export async function updateSprint(
  app: App,
  id: string,
  userId: string,
  input: z.output<typeof UpdateSprint>,
): Promise<SprintView> {
  return app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    const problem = lengthProblem(sprint.startDay, input.endDate ?? sprint.endDay);
    if (problem !== undefined) throw badField('endDate', `endDate ${problem}`);
    if (Object.values(input).some((value) => value !== undefined)) {
      sprintAfter(sprint.status, 'change');
      await updateSprintRow(em, id, input, userId);
      await showMilestones(app, em, sprint);
    }
    const updated = await getSprint(em, id);
    app.audit.note(changesBetween(sprint, updated, ['name', 'goal', 'startDay', 'endDay']));
    return updated;
  });
}

/**
 * Starts a sprint. Its tasks start as soon as they can. `also` is called in the same transaction.
 * @throws Refused when the state machine forbids the event
 */
export async function startSprint(
  app: App,
  id: string,
  userId: string,
  also?: (em: EntityManager) => Promise<void>,
): Promise<SprintView> {
  return app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    // If two sprints of a project start at the same time, the second waits here and finds the first one active.
    await lockProjectRow(em, sprint.projectId);
    const hasOtherActive = (await findActiveSprint(em, sprint.projectId)) !== undefined;
    await setSprintStatus(em, id, sprintAfter(sprint.status, 'start', { hasOtherActive }), userId);
    app.audit.note({ status: [sprint.status, 'active'] });
    await advanceSprints(app, em, sprint.projectId);
    await showSprint(app, em, sprint);
    await also?.(em);
    return getSprint(em, id);
  });
}

/**
 * Completes a sprint and freezes its figures. Then moves its unfinished tasks to the backlog or to a sprint in
 * planning. Their runs continue.
 * @throws Refused when the state machine forbids the event; AppError 400 when `unfinished` is neither "backlog" nor a
 * sprint of the project
 */
export async function completeSprint(app: App, id: string, unfinished: string | undefined): Promise<SprintView> {
  const forecast = await lastForecast(app, id);
  return app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    const target = await targetOf(em, sprint, unfinished);
    const open = await lockUnfinished(em, id);
    const facts = { unfinishedTasks: open, carriesOver: unfinished !== undefined };
    const status = sprintAfter(sprint.status, 'complete', facts);
    await setSprintStatus(em, id, status);
    app.audit.note({ status: [sprint.status, 'completed'], unfinished: [null, unfinished] });
    await storeDigest(em, { sprint: await getSprint(em, id), unfinished: open, forecast }, app.config.BASE_URL);
    await showSprint(app, em, sprint);
    await moveToSprint(em, open, target);
    await app.queue.send(em, 'digest', { sprintId: id });
    return getSprint(em, id);
  });
}

/** Returns the forecast for the digest, without one if that fails. It can take long, so call it before locking anything. */
async function lastForecast(app: App, id: string): Promise<Forecast> {
  try {
    const em = app.db.manager;
    return (await forecastOf(em, await getSprint(em, id))).forecast;
  } catch (error) {
    app.log.error({ err: error, sprintId: id }, 'the digest of the sprint has no forecast');
    return noForecast('The forecast could not be computed.');
  }
}

async function targetOf(em: EntityManager, sprint: SprintView, unfinished: string | undefined): Promise<string | null> {
  if (unfinished === undefined || unfinished === 'backlog') return null;
  const target = await findSprint(em, idOrEmpty(unfinished));
  if (target === undefined || target.projectId !== sprint.projectId)
    throw badField('unfinished', `unfinished must be backlog or a sprint of this project, not ${unfinished}`);
  if (target.status !== 'planning')
    throw new Refused(
      `Unfinished tasks can only move to a sprint in planning; sprint ${target.id} is ${target.status}.`,
    );
  await lockSprint(em, target.id);
  return target.id;
}

interface AddingTasks {
  isTextSeen?: (em: EntityManager) => Promise<boolean>;
  also?: (em: EntityManager) => Promise<void>;
}

/**
 * Adds tasks with their subtasks to a sprint, all or none. Returns them in the given order. The rights of the person who
 * adds them count in the runs that the sprint starts, and if they did not see what the tasks say, so do the rights of those
 * who answered for that before. `also` is called in the same transaction, with the tasks locked.
 * @throws Refused; AppError 400 naming unknown tasks by `path`
 */
export async function addTasks(
  app: App,
  id: string,
  taskIds: string[],
  path: (i: number) => string,
  userId: string,
  { isTextSeen = async () => true, also }: AddingTasks = {},
): Promise<TaskView[]> {
  return app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    const known = await tasksForSprint(em, sprint.projectId, taskIds.map(idOrEmpty));
    const problems = taskIds.flatMap((taskId, i) =>
      known.has(taskId) ? [] : [{ path: path(i), message: `${path(i)} must be a task of this project, not ${taskId}` }],
    );
    if (problems.length > 0) throw badRequest(problems);
    sprintAfter(sprint.status, 'change');
    const withoutParent = [...known.values()].find(
      (t) => t.parentId !== null && t.sprintId !== id && !taskIds.includes(t.parentId),
    );
    if (withoutParent !== undefined)
      throw new Refused(
        `Task ${withoutParent.id} is a subtask and moves with its parent. Add the parent ${withoutParent.parentId} instead.`,
      );
    await also?.(em);
    await moveToSprint(em, taskIds, id, { userId, isTextSeen: await isTextSeen(em) });
    const added = taskIds.filter((taskId) => known.get(taskId)?.sprintId !== id);
    app.audit.note(added.length === 0 ? {} : { tasks: [null, added.join(', ')] });
    for (const taskId of taskIds) await queueMirror(app, em, taskId);
    await advanceSprints(app, em, sprint.projectId);
    return getTasks(em, taskIds);
  });
}

/**
 * Removes a task with its subtasks from a sprint. A live run continues.
 * @throws AppError 404; Refused
 */
export async function removeTask(app: App, id: string, taskId: string): Promise<void> {
  await app.db.transaction(async (em) => {
    const sprint = await lockSprint(em, id);
    const task = (await tasksForSprint(em, sprint.projectId, [idOrEmpty(taskId)])).get(taskId);
    if (task === undefined || task.sprintId !== id) throw notFound('Task', taskId);
    sprintAfter(sprint.status, 'change');
    if (task.parentId !== null)
      throw new Refused(
        `Task ${taskId} is a subtask and moves with its parent. Remove the parent ${task.parentId} instead.`,
      );
    await moveToSprint(em, [taskId], null);
    app.audit.note({ tasks: [taskId, null] });
    await queueMirror(app, em, taskId);
  });
}

/** Queues the jobs that update a sprint on GitHub, and the milestones of the issues of its tasks. */
export async function showSprint(
  app: App,
  em: EntityManager,
  sprint: { id: string; projectId: string },
): Promise<void> {
  if (app.github === undefined) return;
  for (const taskId of await listTasksWithIssue(em, sprint.id)) await queueMirror(app, em, taskId);
  await showMilestones(app, em, sprint);
}

/** Queues the job that updates the milestones of a project's sprints. */
async function showMilestones(app: App, em: EntityManager, { projectId }: { projectId: string }): Promise<void> {
  if (app.github !== undefined) await app.queue.send(em, 'milestones', { projectId }, { key: projectId });
}

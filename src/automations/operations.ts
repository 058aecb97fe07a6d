import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { databaseTime } from '../db/clock.ts';
import { newId } from '../db/ids.ts';
import type { AutomationRow } from '../db/tables/automation.ts';
import { changesBetween } from '../domain/audit.ts';
import { type AutomationTask, knownFields, type Trigger, unknownFields } from '../domain/automations/automation.ts';
import { Refused } from '../domain/machine.ts';
import { badRequest, notFound, type Problem } from '../errors.ts';
import { lockProjectRow } from '../repositories/store.ts';
import { assertBases, ownerIdOf, ownerProblems, repositoryProblems } from '../tasks/operations.ts';
import type { CreateAutomation, UpdateAutomation } from './schemas.ts';
import {
  countAutomations,
  deleteAutomationRow,
  findAutomation,
  insertAutomation,
  lockAutomation,
  newestVersionOf,
  updateAutomationRow,
} from './store.ts';
import { scheduleOfCron } from './times.ts';

/** The most automations of a project. */
const maxAutomations = 50;

/** Returns an automation as the API shows it. */
export function shown(row: AutomationRow) {
  const { trigger, nextAt, lastAt, lastTaskId, lastProblem, pausedReason, pausedAt, ...rest } = row;
  return {
    ...rest,
    on: trigger,
    nextAt,
    last: lastAt === null ? null : { taskId: lastTaskId, at: lastAt, problem: lastProblem },
    paused: pausedReason === null || pausedAt === null ? null : { reason: pausedReason, since: pausedAt },
  };
}

/** Returns when an automation is due after a moment; null for events, and if it is switched off. */
export function dueAfter({ trigger, enabled }: Pick<AutomationRow, 'trigger' | 'enabled'>, after: Date): Date | null {
  if (!enabled || 'event' in trigger) return null;
  return scheduleOfCron(trigger.cron, trigger.timezone).next(after) ?? null;
}

/**
 * Creates an automation. Its tasks will have the rights of the person who creates it.
 * @throws AppError 400 naming the field, 502 when the host cannot be asked for the base; Refused when the project has too
 * many
 */
export async function createAutomation(
  app: App,
  projectId: string,
  userId: string,
  { on, ...asked }: z.output<typeof CreateAutomation>,
): Promise<AutomationRow> {
  const owner = await ownerIdOf(app.db.manager, projectId, userId, asked.task.owner);
  const given = { ...asked, task: { ...asked.task, owner } };
  await assertTask(app, { projectId, userId }, on, given.task);
  return app.db.transaction(async (em) => {
    // Two simultaneous requests could together exceed the limit.
    await lockProjectRow(em, projectId);
    if ((await countAutomations(em, projectId)) >= maxAutomations)
      throw new Refused(`The project has ${maxAutomations} automations, which is the limit. Delete one first.`);
    const id = newId('auto');
    const task = await withNewestOwner(em, given.task);
    const row = { ...given, task, id, projectId, trigger: on, changedBy: userId };
    await insertAutomation(em, { ...row, nextAt: dueAfter(row, await databaseTime(em)) });
    app.audit.note({ name: [null, row.name], on: [null, on], task: [null, task], enabled: [null, row.enabled] });
    return getAutomation(em, id);
  });
}

/**
 * Changes the given fields. From now on, its tasks have the rights of this person. Switching it on, or off, also takes it
 * out of the inbox.
 * @throws AppError 400 naming the field, 404, 502 when the host cannot be asked for the base
 */
export async function updateAutomation(
  app: App,
  { id, projectId }: Pick<AutomationRow, 'id' | 'projectId'>,
  userId: string,
  { on, task: changedTask, ...fields }: z.output<typeof UpdateAutomation>,
): Promise<AutomationRow> {
  const known = await getAutomation(app.db.manager, id);
  const isChecked = on !== undefined || changedTask !== undefined || fields.enabled === true;
  const merged = { ...known.task, ...given(changedTask ?? {}) };
  const checked = { ...merged, owner: await ownerIdOf(app.db.manager, projectId, userId, merged.owner) };
  if (isChecked) await assertTask(app, { projectId, userId }, on ?? known.trigger, checked);
  return app.db.transaction(async (em) => {
    const before = await lockAutomation(em, id);
    if (before === null) throw notFound('Automation', id);
    const change = {
      ...given(fields),
      trigger: on ?? before.trigger,
      task: changedTask === undefined ? before.task : await withNewestOwner(em, checked),
    };
    const after = { ...before, ...change };
    app.audit.note(
      changesBetween({ ...before, on: before.trigger }, { ...after, on: after.trigger }, [
        'name',
        'on',
        'task',
        'enabled',
        'mostPerDay',
      ]),
    );
    const isRescheduled = on !== undefined || after.enabled !== before.enabled;
    await updateAutomationRow(em, id, {
      ...change,
      changedBy: userId,
      nextAt: isRescheduled ? dueAfter(after, await databaseTime(em)) : before.nextAt,
      ...(fields.enabled === undefined ? {} : { pausedReason: null, pausedAt: null }),
      updatedAt: new Date(),
    });
    return getAutomation(em, id);
  });
}

/** Deletes an automation. What it has made stays. @throws AppError 404 */
export async function deleteAutomation(app: App, { id, name }: Pick<AutomationRow, 'id' | 'name'>): Promise<void> {
  if (!(await deleteAutomationRow(app.db.manager, id))) throw notFound('Automation', id);
  app.audit.note({ name: [name, null] });
}

export async function getAutomation(em: EntityManager, id: string): Promise<AutomationRow> {
  const row = await findAutomation(em, id);
  if (row === null) throw notFound('Automation', id);
  return row;
}

function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** An agent may have got a new version since the form was opened. */
async function withNewestOwner(em: EntityManager, task: AutomationTask): Promise<AutomationTask> {
  return { ...task, owner: (await newestVersionOf(em, task.owner)) ?? task.owner };
}

/** @throws AppError 400 naming each field that is wrong; 502 when the host cannot be asked for the base */
async function assertTask(
  app: App,
  { projectId, userId }: { projectId: string; userId: string },
  on: Trigger,
  task: AutomationTask,
): Promise<void> {
  const em = app.db.manager;
  const owner = (await newestVersionOf(em, task.owner)) ?? task.owner;
  const problems = [
    ...(await ownerProblems(em, projectId, userId, owner)),
    ...(await repositoryProblems(em, projectId, task.repositoryId)),
  ].map(({ path, message }) => ({ path: `task.${path}`, message: `task.${message}` }));
  problems.push(...fieldProblems(on, task));
  if (problems.length > 0) throw badRequest(problems);
  const { base, repositoryId } = task;
  await assertBases(app, projectId, [{ base, repositoryId, path: 'task.base' }]);
}

function fieldProblems(on: Trigger, task: AutomationTask): Problem[] {
  return (['title', 'description'] as const).flatMap((name) => {
    const unknown = unknownFields(task[name], on);
    if (unknown.length === 0) return [];
    const path = `task.${name}`;
    const message = `${path} has unknown fields: ${unknown.join(', ')}. Known here are ${knownFields(on).join(', ')}`;
    return [{ path, message: message.slice(0, 1000) }];
  });
}

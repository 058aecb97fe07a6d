import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { insertAuditRecord } from '../audit/records.ts';
import { databaseTime } from '../db/clock.ts';
import type { AutomationRow } from '../db/tables/automation.ts';
import { hasRole } from '../domain/agent.ts';
import type { AuditAction } from '../domain/audit.ts';
import { type Fields, filledDescription, filledTitle, overLimit } from '../domain/automations/automation.ts';
import { type Failure, failure } from '../domain/run.ts';
import { AppError } from '../errors.ts';
import { dayIsOver } from '../projects/budgets.ts';
import { roleIn } from '../projects/member-store.ts';
import { findUser } from '../projects/store.ts';
import { findRepository } from '../repositories/store.ts';
import { startProblemOf, startTaskIn } from '../runs/operations.ts';
import { listFlaky } from '../runs/proof/flaky-store.ts';
import { whyNotStarted } from '../sprints/advance-sprint.ts';
import { queueMirror } from '../tasks/move.ts';
import { assertBases, insertTask, ownerProblems } from '../tasks/operations.ts';
import { setTaskFields } from '../tasks/store.ts';
import { dueAfter } from './operations.ts';
import {
  countMade,
  findAutomation,
  insertCause,
  listDue,
  listEnabled,
  lockAutomation,
  newestVersionOf,
  secondsToNextDue,
  setTaskOfCause,
  updateAutomationRow,
} from './store.ts';
import { dayBegan } from './times.ts';

/** What makes an automation create a task. */
export interface Cause {
  /** The same for everything that is the same time, event or request: it makes one task. */
  key: string;
  /** How many automations in a row, this one included, have led to it. */
  depth: number;
  /** What an event inserts into the words of the task. */
  fields: Fields;
  /** The repository of the event; null for anything else. */
  repositoryId: string | null;
  /** Whose words or action it is, beside the person who changed the automation last. */
  people: string[];
  /** The time that is due; null for anything else. */
  tick: Date | null;
  /** A person asks for it, so it does not matter whether the automation is switched on. */
  isAsked: boolean;
}

/** The longest pause between two looks for due automations. Another process may have changed when the next one is due. */
const longestPauseMs = 10_000;

/**
 * Returns a function that sends a job for each automation whose time has come. Jobs that are on their way are not sent again.
 * Called every two seconds, it only looks when one is due, or after ten seconds.
 */
export function automationWaker(app: App): () => Promise<void> {
  let looksAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() < looksAt) return;
    const seconds = (await secondsToNextDue(app.db.manager)) ?? Number.POSITIVE_INFINITY;
    looksAt = performance.now() + Math.min(longestPauseMs, Math.max(0, seconds * 1000));
    if (seconds > 0) return;
    for (const automationId of await listDue(app.db.manager))
      await app.queue.send(undefined, 'automation', { automationId }, { key: automationId });
  };
}

/** Moves the automations whose time has come to their next time, without a task. Returns their names. */
export async function skipDueTimes(app: App, now = new Date()): Promise<string[]> {
  const names: string[] = [];
  for (const id of await listDue(app.db.manager, now))
    await app.db.transaction(async (em) => {
      const row = await findAutomation(em, id);
      if (row === null) return;
      await updateAutomationRow(em, id, { nextAt: dueAfter(row, now) });
      names.push(row.name);
    });
  return names;
}

/** Makes the task of an automation whose time has come. Times that were missed before it make no task of their own. */
export async function makeDueTask(app: App, automationId: string, at?: Date): Promise<void> {
  const row = await findAutomation(app.db.manager, automationId);
  const now = at ?? (await databaseTime(app.db.manager));
  if (row?.nextAt == null || row.nextAt > now) return;
  const tick = row.nextAt;
  const key = `at ${tick.toISOString()}`;
  await fire(
    app,
    automationId,
    { key, tick, depth: 1, fields: {}, repositoryId: null, people: [], isAsked: false },
    now,
  );
}

/**
 * Makes the task of an automation for a cause, once however often and in how many processes it is called. The cause, the
 * task, its run and the next time are stored in one transaction. An automation that cannot make tasks any more, or has made
 * as many as it may in a day, is switched off instead.
 */
export async function fire(app: App, automationId: string, cause: Cause, now = new Date()): Promise<void> {
  const known = await findAutomation(app.db.manager, automationId);
  if (known === null) return;
  // GitHub is asked outside of the transaction.
  const found = await lookAround(app, known);
  await app.db.transaction(async (em) => {
    const row = await lockAutomation(em, automationId);
    if (row === null || !isWanted(row, cause)) return;
    const { key, depth } = cause;
    if (!(await insertCause(em, { automationId, cause: key, at: now, depth }))) return;
    const problem =
      (await brokenBecause(em, row)) ??
      found.baseProblem ??
      ((await countMade(em, row.id, dayOf(row, now))) >= row.mostPerDay ? overLimit(row.mostPerDay) : undefined);
    if (problem !== undefined) return pause(app, em, row, problem, { at: now, isAsked: cause.isAsked });
    const made = await makeTask(app, em, row, cause, { now, why: found.whyNotStarted });
    await setTaskOfCause(em, { automationId, cause: key }, made.taskId);
    await note(app, em, row, 'automation.run', { task: made.taskId }, cause.isAsked);
    await updateAutomationRow(em, row.id, {
      lastTaskId: made.taskId,
      lastAt: now,
      lastProblem: made.problem ?? null,
      ...(cause.tick === null ? {} : { nextAt: dueAfter(row, now) }),
    });
  });
}

/** Returns whether an automation still waits for a cause. Another process may have been faster, or a person. */
function isWanted(row: AutomationRow, { isAsked, tick }: Cause): boolean {
  if (isAsked) return true;
  return row.enabled && (tick === null || row.nextAt?.getTime() === tick.getTime());
}

interface Found {
  baseProblem: string | undefined;
  whyNotStarted: Failure | undefined;
}

/** Finds out what needs GitHub or another host. */
async function lookAround(app: App, { projectId, task }: AutomationRow): Promise<Found> {
  const { base, repositoryId, start } = task;
  const found: Found = { baseProblem: undefined, whyNotStarted: undefined };
  try {
    await assertBases(app, projectId, [{ base, repositoryId, path: 'its base' }]);
  } catch (error) {
    // A host that cannot be asked now may answer when the run clones.
    if (!(error instanceof AppError)) throw error;
    if (error.status === 400) found.baseProblem = `Its task cannot start: ${error.message}.`;
  }
  if (!start || found.baseProblem !== undefined) return found;
  const usedUp = await dayIsOver(app, projectId);
  if (usedUp !== undefined) return { ...found, whyNotStarted: failure('budget', `${usedUp}; start the task tomorrow`) };
  const owner = (await newestVersionOf(app.db.manager, task.owner)) ?? null;
  const problem = await startProblemOf(app, { owner, projectId, repositoryId, issueRepositoryId: null });
  return { ...found, whyNotStarted: problem && whyNotStarted(problem) };
}

/** Returns when the day began by which the tasks of an automation are counted. */
function dayOf({ trigger }: AutomationRow, now: Date): Date {
  return dayBegan(now, zoneOf(trigger));
}

function zoneOf(trigger: AutomationRow['trigger']): string {
  return 'event' in trigger ? 'UTC' : trigger.timezone;
}

/** Returns why an automation cannot make tasks any more, as a sentence; undefined if it can. */
async function brokenBecause(em: EntityManager, row: AutomationRow): Promise<string | undefined> {
  const { projectId, changedBy, task } = row;
  const repair = 'Change the automation, then switch it on again.';
  const person = changedBy === null ? null : await findUser(em, changedBy);
  const role = person === null ? undefined : await roleIn(em, projectId, person.id);
  if (person === null || role === undefined || !hasRole(role, 'admin'))
    return `${person?.login ?? 'The person'} who last changed the automation is no admin of the project any more, and its tasks would have their rights. An admin can take it over by switching it on again.`;
  if ((await findRepository(em, task.repositoryId))?.projectId !== projectId)
    return `Its repository is no longer connected to the project. ${repair}`;
  const owner = await newestVersionOf(em, task.owner);
  if (owner === undefined || (await ownerProblems(em, projectId, person.id, owner)).length > 0)
    return `Its agent was deleted, or may no longer work in this project. ${repair}`;
  return undefined;
}

/** Switches an automation off and says why. The inbox of the admins shows it until one of them switches it on or off. */
async function pause(
  app: App,
  em: EntityManager,
  row: AutomationRow,
  reason: string,
  { at, isAsked }: { at: Date; isAsked: boolean },
): Promise<void> {
  await note(app, em, row, isAsked ? 'automation.run' : 'automation.pause', { problem: reason }, isAsked);
  await updateAutomationRow(em, row.id, {
    enabled: false,
    nextAt: null,
    lastTaskId: null,
    lastAt: at,
    lastProblem: reason,
    pausedReason: reason,
    pausedAt: at,
  });
}

/** Notes in the audit log what an automation did: in the record of the person who asked for it, or in one of its own. */
async function note(
  app: App,
  em: EntityManager,
  { id, projectId }: AutomationRow,
  action: AuditAction,
  detail: Record<string, string>,
  isAsked: boolean,
): Promise<void> {
  const changes = Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name, [null, value] as [null, string]]),
  );
  if (isAsked) return app.audit.note(changes);
  const about = { actorId: null, via: 'system', objectType: 'automation', objectId: id } as const;
  await insertAuditRecord(em, { projectId, action, ...about, detail: changes });
}

/** Creates the task, and starts it if the automation says so. Returns why it was not started. */
async function makeTask(
  app: App,
  em: EntityManager,
  row: AutomationRow,
  cause: Cause,
  { now, why }: { now: Date; why: Failure | undefined },
): Promise<{ taskId: string; problem?: string }> {
  const { task, projectId, changedBy, trigger } = row;
  const { repositoryId, base, planFirst, start } = task;
  const repository = await findRepository(em, repositoryId);
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: zoneOf(trigger), dateStyle: 'short' }).format(now);
  const known = { date, repository: repository?.name, flaky: await flakyText(em, task) };
  const fields = { ...cause.fields, ...known };
  const taskId = await insertTask(app, em, projectId, {
    title: filledTitle(task.title, fields),
    description: filledDescription(task.description, fields),
    status: start ? 'ready' : 'backlog',
    owner: await newestVersionOf(em, task.owner),
    repositoryId,
    textRepositoryIds: cause.repositoryId === null ? [] : [cause.repositoryId],
    base,
    planFirst,
    createdBy: changedBy,
    // Who wrote what an event inserts has no other rights through it than their own.
    directedBy: [...new Set([...(changedBy === null ? [] : [changedBy]), ...cause.people])],
  });
  if (!start) return { taskId };
  const failed = why ?? (await tryStart(app, em, taskId, changedBy));
  if (failed === undefined) return { taskId };
  await setTaskFields(em, taskId, { failure: failed });
  await queueMirror(app, em, taskId);
  return { taskId, problem: failed.message };
}

/** Starts a task. Returns why that was refused; then nothing of it is stored. */
async function tryStart(
  app: App,
  em: EntityManager,
  taskId: string,
  startedBy: string | null,
): Promise<Failure | undefined> {
  try {
    await em.transaction((inner) =>
      startTaskIn(app, inner, { taskId, startedBy, isAutomatic: true, kind: 'start' }, undefined),
    );
    return undefined;
  } catch (error) {
    const why = whyNotStarted(error);
    if (why === undefined) throw error;
    return why;
  }
}

/** Switches automations off that cannot make tasks any more, for example because their agent was deleted. */
export async function pauseBroken(app: App): Promise<void> {
  for (const id of await listEnabled(app.db.manager)) await pauseIf(app, id, (em, row) => brokenBecause(em, row));
}

/** Switches an automation off if there is a reason, as a sentence. */
export async function pauseIf(
  app: App,
  id: string,
  reasonFor: (em: EntityManager, row: AutomationRow) => Promise<string | undefined>,
): Promise<void> {
  await app.db.transaction(async (em) => {
    const row = await lockAutomation(em, id);
    const reason = row?.enabled ? await reasonFor(em, row) : undefined;
    if (row && reason) await pause(app, em, row, reason, { at: new Date(), isAsked: false });
  });
}

/** At most this many flaky checks are listed in a task. */
const maxFlaky = 10;

/** Lists the flaky checks of a repository, if a task wants to know them. */
async function flakyText(em: EntityManager, { description, title, repositoryId }: AutomationRow['task']) {
  if (!/\{\{\s{0,10}flaky\s{0,10}\}\}/.test(title + description)) return undefined;
  const found = await listFlaky(em, repositoryId, { limit: maxFlaky, offset: 0 });
  if (found.length === 0) return 'none so far';
  return found
    .slice(0, maxFlaky)
    .map(({ command, seen, of, tests }) => {
      const named = tests.length === 0 ? '' : `: ${tests.join(', ')}`;
      return `${command} (differed ${seen} of ${of} times)${named}`;
    })
    .join('\n');
}

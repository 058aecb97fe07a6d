import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { Tasks } from '../db/tables/task.ts';
import { changesBetween } from '../domain/audit.ts';
import { givenBudget } from '../domain/budget.ts';
import { Refused } from '../domain/machine.ts';
import { maxSubtasks, type TaskEvent, type TaskStatus, tooManySubtasks } from '../domain/task.ts';
import { storableText } from '../domain/text/sanitize.ts';
import { badField, badRequest, type Problem } from '../errors.ts';
import { assertTaskBudgetWithin } from '../projects/budgets.ts';
import { lockMember } from '../projects/member-store.ts';
import { advanceSprints, joinParent, moveTask, queueMirror, recheckTask } from './move.ts';
import {
  assertBases,
  assertReplaces,
  dependencyProblems,
  insertTask,
  ownerIdOf,
  ownerProblems,
  repositoryProblems,
} from './operations.ts';
import type { CreateSubtask, UpdateTask } from './schemas.ts';
import {
  addTaskDirector,
  countSubtasks,
  followsUnknown,
  getTask,
  hasLiveRun,
  hasLiveRunBelow,
  lockDependencies,
  lockLiveRun,
  lockSprintForTask,
  lockTask,
  reachableFrom,
  replaceDependencies,
  setTaskFields,
  type TaskView,
} from './store.ts';

/** What a deleted task leaves on GitHub: an issue or pull request, or a branch alone, whose number is then 0. */
export interface Leftover {
  taskId: string;
  repositoryId: string;
  number: number;
  /** The branch of the pull request; null for an issue. */
  branch: string | null;
  /** Our status comment and milestone, as far as they are known. */
  commentId: number | null;
  milestone: number | null;
}

/**
 * Locks a task and its subtasks for deletion, subtasks first. A subtask that becomes done also locks its own row before
 * its parent's, so the other order would deadlock.
 */
async function lockForDeletion(em: EntityManager, taskId: string): Promise<void> {
  const family = 'select 1 from tasks where id = $1 or parent_id = $1';
  await em.query(`${family} order by parent_id is null, id for update`, [taskId]);
}

/**
 * Notes what a task and its subtasks show on GitHub, and queues the jobs that remove it. Call it in the transaction that
 * deletes the task, so that neither happens without the other.
 */
async function noteLeftovers(app: App, em: EntityManager, taskId: string): Promise<void> {
  const rows: Pick<Leftover, 'taskId' | 'repositoryId' | 'number'>[] = await em.query(
    `with family as (select * from tasks where id = $1 or parent_id = $1),
     places as (
       select p.task_id, p.repository_id, p.number, p.head_branch as branch
       from pull_requests p join family t on t.id = p.task_id
       union all
       select id, issue_repository_id, issue_number, null from family
       where issue_number is not null and issue_repository_id is not null
       union all
       select t.id, t.repository_id, 0, t.branch_name from family t
       where t.branch_name is not null and t.repository_id is not null and not exists (
         select 1 from pull_requests p where p.task_id = t.id and p.repository_id = t.repository_id
           and p.head_branch = t.branch_name))
     insert into leftovers (task_id, repository_id, number, branch, comment_id, milestone)
     select p.task_id, p.repository_id, p.number, p.branch, m.comment_id, m.milestone
     from places p left join mirrored m on m.repository_id = p.repository_id and m.number = p.number
     returning task_id as "taskId", repository_id as "repositoryId", number`,
    [taskId],
  );
  for (const row of rows) await queueTidying(app, em, row);
}

/**
 * Lets the other tasks on the commits of a task and its subtasks write their check runs again. GitHub counts the latest one of a
 * commit, and we forget about those of a task that is deleted.
 */
async function renewChecks(app: App, em: EntityManager, taskId: string): Promise<void> {
  const [rows]: [{ taskId: string }[]] = await em.query(
    `with family as (select id from tasks where id = $1 or parent_id = $1),
     commits as (
       select m.repository_id, m.check_sha from mirrored m join family f on f.id = m.task_id where m.check_sha is not null)
     update mirrored o set check_shown = null from commits c
     where o.repository_id = c.repository_id and o.check_sha = c.check_sha and o.task_id not in (select id from family)
     returning o.task_id as "taskId"`,
    [taskId],
  );
  for (const row of rows) await recheckTask(app, row.taskId, em);
}

/** Queues the job that removes a leftover. */
export async function queueTidying(
  app: App,
  em: EntityManager | undefined,
  { taskId, repositoryId, number }: Pick<Leftover, 'taskId' | 'repositoryId' | 'number'>,
): Promise<void> {
  const key = `${taskId} ${repositoryId} ${number}`;
  await app.queue.send(em, 'tidy', { taskId, repositoryId, number }, { key });
}

type Given = z.output<typeof UpdateTask>;
type Update = Omit<Given, 'replaces'>;

/** The statuses that a person may set, each with the event that sets it. */
const byHand: Partial<Record<TaskStatus, TaskEvent>> = { backlog: 'to_backlog', ready: 'to_ready', done: 'to_done' };

/**
 * Changes only the given fields. During a live run only the title, the description and the budget may change, because
 * the run depends on the other fields. A change that depends on the task is given as a function, which is called with
 * the task locked, so that it does not overwrite what somebody else changes at the same time. Such a function gives no
 * base, because its host would have to be asked.
 * @throws Refused; AppError 400 naming the field, 502 when the host cannot be asked for the base
 */
export async function updateTask(
  app: App,
  taskId: string,
  userId: string,
  given: Given | ((task: TaskView) => Omit<Update, 'base'>),
): Promise<TaskView> {
  if (typeof given !== 'function' && given.base) {
    const task = await getTask(app.db.manager, taskId);
    const { projectId, repositoryId } = task;
    // The host is asked last, and outside of the transaction.
    await checkReferences(app.db.manager, task, userId, await withOwnerId(app.db.manager, task, userId, given));
    const named = { base: given.base, repositoryId: given.repositoryId ?? repositoryId, path: 'base' };
    await assertBases(app, projectId, [named]);
  }
  return app.db.transaction(async (em) => {
    // A run that ends locks the run first and then its task. Using the same order here prevents a deadlock.
    await lockLiveRun(em, taskId);
    // Dependencies are locked before the task. Otherwise two changes that make tasks depend on each other would
    // deadlock.
    if (typeof given === 'function' || given.dependsOn !== undefined)
      await lockDependencies(em, (await getTask(em, taskId)).projectId);
    await lockTask(em, taskId);
    const task = await getTask(em, taskId);
    const { replaces, ...asked }: Given = typeof given === 'function' ? given(task) : given;
    assertReplaces(task, replaces);
    const input = await withOwnerId(em, task, userId, asked);
    await checkReferences(em, task, userId, input);
    await assertMayChange(em, task, input);
    const { status, dependsOn } = input;
    if (input.budget) await assertTaskBudgetWithin(app, em, task.projectId, input.budget);
    const change = changeOf(task, input);
    if (dependsOn !== undefined) await setDependencies(em, task, dependsOn);
    if (Object.keys(change).length > 0 || dependsOn !== undefined)
      await em.update(Tasks, { id: taskId }, { ...change, ...editOf(change), updatedAt: new Date() });
    await noteWriter(em, task, userId, input);
    if (status !== undefined && status !== task.status) await moveByHand(app, em, task, status);
    await queueMirror(app, em, taskId);
    await advanceSprints(app, em, task.projectId);
    const updated = await getTask(em, taskId);
    app.audit.note(changesBetween(task, updated, Object.keys(input) as (keyof Update)[]));
    return updated;
  });
}

/** Returns when a task was edited, if a change decides about its next run. */
const editOf = ({ priority: _1, responsible: _2, responsibleChosen: _3, ...change }: Record<string, unknown>) =>
  Object.keys(change).length > 0 ? { editedAt: () => 'clock_timestamp()' } : {};

/** Notes whose words a task follows from now on. */
async function noteWriter(em: EntityManager, task: TaskView, userId: string, input: Update): Promise<void> {
  const isRewritten = (['title', 'description'] as const).some(
    (name) => input[name] !== undefined && input[name] !== task[name],
  );
  if (isRewritten) await addTaskDirector(em, task.id, userId);
}

/** Replaces the name of an owner by the id of the agent. */
async function withOwnerId(em: EntityManager, task: TaskView, userId: string, input: Update): Promise<Update> {
  if (input.owner === undefined || input.owner === task.owner) return input;
  return { ...input, owner: await ownerIdOf(em, task.projectId, userId, input.owner) };
}

async function checkReferences(em: EntityManager, task: TaskView, userId: string, input: Update): Promise<void> {
  const isNewOwner = input.owner !== task.owner;
  const problems = [
    ...(isNewOwner ? await ownerProblems(em, task.projectId, userId, input.owner ?? undefined) : []),
    ...(await responsibleProblems(em, task, input.responsible)),
    ...(await dependencyProblems(em, task.projectId, input.dependsOn ?? [])),
    ...(await repositoryProblems(em, task.projectId, input.repositoryId)),
  ];
  if (problems.length > 0) throw badRequest(problems);
}

/**
 * Returns what is wrong with the person who should become responsible. They must be a member of the project and no viewer, and
 * cannot leave it before the transaction ends.
 */
async function responsibleProblems(
  em: EntityManager,
  { projectId, responsible }: TaskView,
  userId: string | null | undefined,
): Promise<Problem[]> {
  if (userId === undefined || userId === null || userId === responsible) return [];
  if (await lockMember(em, projectId, storableText(userId))) return [];
  return [
    { path: 'responsible', message: `responsible must be a member of this project who is no viewer, not ${userId}` },
  ];
}

/**
 * Returns the given fields that are changed as they are. A budget without limits becomes null. A base is a branch of the
 * repository, so another repository needs another one.
 */
function changeOf(task: TaskView, { status: _moves, dependsOn: _replaced, budget, ...fields }: Update) {
  const isMoved = fields.repositoryId !== undefined && fields.repositoryId !== task.repositoryId;
  const reset = {
    ...(isMoved ? { base: null } : {}),
    ...(fields.responsible === undefined ? {} : { responsibleChosen: fields.responsible !== null }),
  };
  const given = { ...reset, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
  if (budget === undefined) return given;
  return { ...given, budget: givenBudget(budget) };
}

async function assertMayChange(em: EntityManager, task: TaskView, input: Update): Promise<void> {
  const touched = (['owner', 'status', 'repositoryId', 'base', 'dependsOn', 'planFirst'] as const).filter((name) => {
    const [before, after] = [task[name], input[name]];
    if (after === undefined) return false;
    return name === 'dependsOn'
      ? [...new Set(after as string[])].sort().join() !== task.dependsOn.join()
      : before !== after;
  });
  if (touched.length > 0 && (await hasLiveRun(em, task.id)))
    throw new Refused(`This task has an unfinished run, so ${touched.join(', ')} cannot change. Cancel it first.`);
  const fixed = (['repositoryId', 'base'] as const).find((name) => touched.includes(name));
  if (fixed !== undefined && task.branchName !== null)
    throw new Refused(
      `This task has the branch ${task.branchName}, so its ${fixed === 'base' ? 'base' : 'repository'} cannot change. Create a new task.`,
    );
  if (fixed === 'repositoryId' && (await followsUnknown(em, task.id)))
    throw new Refused(
      'An automation took words of this task from its repository, and nobody knows who wrote them. They may not be readers of another repository, so this one cannot change. Create a new task there.',
    );
}

/**
 * Replaces the dependencies of a task.
 * @throws AppError 400 when the task would depend on itself
 */
async function setDependencies(em: EntityManager, task: TaskView, dependsOn: string[]): Promise<void> {
  const ids = [...new Set(dependsOn)];
  if ((await reachableFrom(em, ids)).has(task.id))
    throw badField('dependsOn', 'dependsOn must not make the task depend on itself, directly or through other tasks');
  await replaceDependencies(em, task.id, ids);
}

async function moveByHand(app: App, em: EntityManager, task: TaskView, status: TaskStatus): Promise<void> {
  const event = byHand[status];
  if (event === undefined)
    throw new Refused(`Runs and pull requests set the status ${status}; people cannot. The task is ${task.status}.`);
  await moveTask(app, em, task.id, event);
}

/**
 * Adds a subtask with the owner and the repository of its parent. The parent waits for it.
 * @throws Refused
 */
export async function addSubtask(
  app: App,
  parentId: string,
  userId: string,
  { issue = false, ...input }: Omit<z.output<typeof CreateSubtask>, 'issue'> & { issue?: boolean },
  also?: (em: EntityManager) => Promise<void>,
) {
  return app.db.transaction(async (em) => {
    await moveTask(app, em, parentId, 'split');
    const parent = await getTask(em, parentId);
    await setTaskFields(em, parentId, { splitByAgent: false });
    const id = await insertTask(app, em, parent.projectId, {
      ...input,
      wantsIssue: issue,
      status: 'backlog',
      owner: parent.owner ?? undefined,
      repositoryId: parent.repositoryId ?? undefined,
      base: parent.base,
      // No task can join a sprint that has ended. In that case, the subtask is in no sprint.
      sprintId: await openSprintOf(em, parent),
      parentId,
      createdBy: userId,
    });
    app.audit.note({ subtask: [null, id], subtaskTitle: [null, input.title] });
    await also?.(em);
    return getTask(em, id);
  });
}

/**
 * Makes a task a subtask of another one, which waits for it unless it is done. `from` is the parent that it leaves, if it
 * has one. `moveToSprint` is called if the sprint of the parent is another one: subtasks move with their parents.
 * @throws Refused
 */
export async function attachSubtask(
  app: App,
  { parentId, taskId, from }: { parentId: string; taskId: string; from: string | null },
  moveToSprint: (em: EntityManager, sprintId: string | null) => Promise<void>,
): Promise<void> {
  await app.db.transaction(async (em) => {
    await lockDependencies(em, (await getTask(em, parentId)).projectId);
    // A subtask that becomes done also locks its own row before its parent's.
    await lockTask(em, taskId);
    const task = await getTask(em, taskId);
    if (task.parentId === parentId) return app.audit.note({});
    await assertMayAttach(em, task, { parentId, from });
    if (task.status === 'done') await assertMayHaveSubtasks(em, parentId);
    else {
      await moveTask(app, em, parentId, 'split');
      await setTaskFields(em, parentId, { splitByAgent: false });
    }
    await setParent(em, taskId, parentId);
    const sprintId = (await openSprintOf(em, await getTask(em, parentId))) ?? null;
    if (sprintId !== task.sprintId) await moveToSprint(em, sprintId);
    if (from !== null) await joinParent(app, em, from);
    for (const id of [taskId, parentId, from]) if (id !== null) await queueMirror(app, em, id);
    await advanceSprints(app, em, task.projectId);
    app.audit.note({ subtask: [null, taskId], subtaskTitle: [null, task.title] });
  });
}

async function assertMayAttach(
  em: EntityManager,
  task: TaskView,
  { parentId, from }: { parentId: string; from: string | null },
): Promise<void> {
  if (task.parentId !== from) throw new Refused('The task is a subtask of another task already.');
  if ((await countSubtasks(em, task.id)) > 0)
    throw new Refused('The task has subtasks of its own, so it cannot become a subtask.');
  if ((await reachableFrom(em, [task.id])).has(parentId))
    throw new Refused(
      'The task waits for the other one, directly or through other tasks, so it cannot become its subtask.',
    );
}

/** @throws Refused if a task is itself a subtask, or has as many subtasks as one may have */
async function assertMayHaveSubtasks(em: EntityManager, parentId: string): Promise<void> {
  await lockTask(em, parentId);
  if ((await getTask(em, parentId)).parentId !== null)
    throw new Refused('This task is a subtask, and a subtask cannot have subtasks of its own.');
  if ((await countSubtasks(em, parentId)) >= maxSubtasks) throw new Refused(tooManySubtasks);
}

/** Makes a subtask a task of its own. Its former parent no longer waits for it. */
export async function detachSubtask(app: App, parentId: string, taskId: string): Promise<void> {
  await app.db.transaction(async (em) => {
    await lockTask(em, taskId);
    const task = await getTask(em, taskId);
    if (task.parentId !== parentId) return app.audit.note({});
    await setParent(em, taskId, null);
    await joinParent(app, em, parentId);
    for (const id of [taskId, parentId]) await queueMirror(app, em, id);
    await advanceSprints(app, em, task.projectId);
    app.audit.note({ subtask: [taskId, null], subtaskTitle: [task.title, null] });
  });
}

async function setParent(em: EntityManager, taskId: string, parentId: string | null): Promise<void> {
  await em.update(Tasks, { id: taskId }, { parentId, updatedAt: new Date() });
}

async function openSprintOf(em: EntityManager, { sprintId, projectId }: TaskView): Promise<string | undefined> {
  if (sprintId === null) return undefined;
  const status = await lockSprintForTask(em, projectId, sprintId);
  return status === 'planning' || status === 'active' ? sprintId : undefined;
}

/**
 * Deletes a task and its subtasks. Removes them from the dependencies of other tasks. Jobs then remove from GitHub what
 * they show there.
 * @throws Refused while a run is live
 */
export async function deleteTask(app: App, task: TaskView): Promise<void> {
  await app.db.transaction(async (em) => {
    await lockForDeletion(em, task.id);
    if (await hasLiveRunBelow(em, task.id))
      throw new Refused('The task or one of its subtasks has an unfinished run. Cancel it before you delete the task.');
    await noteLeftovers(app, em, task.id);
    await renewChecks(app, em, task.id);
    await em.delete(Tasks, { id: task.id });
    app.audit.note({ title: [task.title, null] });
    await advanceSprints(app, em, task.projectId);
    if (task.parentId !== null) await joinParent(app, em, task.parentId);
  });
}

import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import { findAgentsByName, findVisibleAgent, mayServe } from '../agents/store.ts';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import { Agents, Repositories } from '../db/tables/project.ts';
import { Tasks } from '../db/tables/task.ts';
import { givenBudget, type RunBudget } from '../domain/budget.ts';
import { Refused } from '../domain/machine.ts';
import type { Priority } from '../domain/task.ts';
import { storableText } from '../domain/text/sanitize.ts';
import { badRequest, notConfigured, type Problem } from '../errors.ts';
import { assertTaskBudgetWithin } from '../projects/budgets.ts';
import { assertBranches, type NamedBranch } from '../repositories/branches.ts';
import { findPrimary, findRepository } from '../repositories/store.ts';
import { advanceSprints, queueMirror } from './move.ts';
import type { CreateTask, CreateTasks, IssueLink } from './schemas.ts';
import {
  assertSprintFits,
  getTask,
  getTasks,
  insertDependencies,
  lockSprintForTask,
  replaceDependencies,
  type TaskView,
  tasksAmong,
} from './store.ts';
import { findDiff, findHeldDiff } from './work-store.ts';

/**
 * Creates a task. Everything that the task refers to must be visible to the user and belong to the same project.
 * @throws AppError 400 naming the field, 502 when the host cannot be asked for the base; Refused when the sprint has ended;
 * AppError 503 when an issue needs the App
 */
export async function createTask(
  app: App,
  projectId: string,
  userId: string,
  given: z.output<typeof CreateTask>,
): Promise<TaskView> {
  const input = { ...given, owner: await ownerIdOf(app.db.manager, projectId, userId, given.owner) };
  const assertReferences = async (em: EntityManager) => {
    const problems = [
      ...(await ownerProblems(em, projectId, userId, input.owner)),
      ...(await dependencyProblems(em, projectId, input.dependsOn)),
      ...(await repositoryProblems(em, projectId, input.repositoryId)),
      ...(await sprintProblems(em, projectId, input.sprintId)),
    ];
    if (problems.length > 0) throw badRequest(problems);
  };
  // The host is asked last, and outside of the transaction.
  if (input.base) await assertReferences(app.db.manager);
  await assertBases(app, projectId, [{ ...input, path: 'base' }]);
  return app.db.transaction(async (em) => {
    await assertReferences(em);
    const { issue, ...task } = input;
    if (task.budget) await assertTaskBudgetWithin(app, em, projectId, task.budget);
    const id = await insertTask(app, em, projectId, { ...task, wantsIssue: issue, createdBy: userId });
    app.audit.note({
      ...{ title: [null, task.title], status: [null, task.status], owner: [null, task.owner] },
      ...(task.priority === 'normal' ? {} : { priority: [null, task.priority] }),
    });
    return getTask(em, id);
  });
}

/**
 * Inserts a task whose references are already checked. A task without a repository gets the primary one of the project.
 */
export async function insertTask(
  app: App,
  em: EntityManager,
  projectId: string,
  task: {
    title: string;
    description: string;
    status: 'backlog' | 'ready';
    /** `normal` if it is left out. */
    priority?: Priority | undefined;
    owner?: string | undefined;
    dependsOn?: string[];
    repositoryId?: string | undefined;
    parentId?: string;
    sprintId?: string | undefined;
    createdBy: string | null;
    /** Whose words it follows, if not those of the person who created it. */
    directedBy?: string[];
    /** The repositories whose content it may repeat; that of its issue is among them. */
    textRepositoryIds?: string[];
    issue?: IssueLink;
    wantsIssue?: boolean;
    planFirst?: boolean | null | undefined;
    base?: string | null | undefined;
    budget?: RunBudget | undefined;
    /** It stands for what agents do for a pull request of somebody else. */
    hidden?: boolean;
    /** The task whose merged pull requests it reverts. */
    undoOf?: string;
    /** The member who looks after it. */
    responsible?: string | null;
  },
): Promise<string> {
  const repository =
    task.repositoryId === undefined ? await findPrimary(em, projectId) : await findRepository(em, task.repositoryId);
  if (task.wantsIssue && !(app.github !== undefined && repository?.isInstalled))
    throw notConfigured('An issue needs the GitHub App: install it on the repository of the task');
  const id = newId('task');
  await em.insert(Tasks, {
    id,
    projectId,
    title: task.title,
    description: task.description,
    status: task.status,
    priority: task.priority ?? 'normal',
    owner: task.owner ?? null,
    repositoryId: repository?.id ?? null,
    wantsIssue: task.wantsIssue ?? false,
    planFirst: task.planFirst ?? null,
    budget: givenBudget(task.budget),
    base: task.base ?? null,
    parentId: task.parentId ?? null,
    sprintId: await openSprint(em, projectId, task.sprintId),
    hidden: task.hidden ?? false,
    undoOf: task.undoOf ?? null,
    responsible: task.responsible ?? null,
    createdBy: task.createdBy,
    directedBy: writersOf(task),
    ...issueFields(task),
  });
  await insertDependencies(em, id, [...new Set(task.dependsOn)]);
  await queueMirror(app, em, id);
  if (task.sprintId !== undefined) {
    await assertSprintFits(em, task.sprintId);
    await advanceSprints(app, em, projectId);
  }
  return id;
}

/** Returns the columns about the issue of a new task, which says what the task says. */
function issueFields(task: { issue?: IssueLink; title: string; description: string; textRepositoryIds?: string[] }) {
  const { issue, title, description, textRepositoryIds = [] } = task;
  if (issue === undefined) return { textRepositoryIds };
  const { repositoryId: issueRepositoryId, number: issueNumber, url: issueUrl, type = null, assignees = [] } = issue;
  const shown = { issueType: type, issueAssignees: assignees, issueTitle: title, issueBody: description };
  return {
    issueRepositoryId,
    issueNumber,
    issueUrl,
    textRepositoryIds: [...textRepositoryIds, issueRepositoryId],
    ...shown,
  };
}

function writersOf({ directedBy, createdBy }: { directedBy?: string[]; createdBy: string | null }): string[] {
  return directedBy ?? (createdBy === null ? [] : [createdBy]);
}

interface GivenBase {
  base?: string | null | undefined;
  repositoryId?: string | null | undefined;
  path: string;
}

/**
 * Checks that the repositories of tasks have the branches from which they should start.
 * @throws AppError 400 naming each field that is wrong; 502 when a host cannot be asked
 */
export async function assertBases(app: App, projectId: string, given: GivenBase[]): Promise<void> {
  const named: NamedBranch[] = [];
  for (const { base, repositoryId, path } of given) {
    if (!base) continue;
    const repository = await (repositoryId
      ? findRepository(app.db.manager, storableText(repositoryId))
      : findPrimary(app.db.manager, projectId));
    // A repository of another project is refused with the other references.
    if (!repositoryId || repository?.projectId === projectId) named.push({ repository, branch: base, path });
  }
  if (named.length > 0) await assertBranches(app, named);
}

/**
 * Returns what is wrong with an owner: the agent must belong to the project, or to one of its members and be visible to the user.
 * A command on GitHub may come from somebody who is no member and sees no agents.
 */
export async function ownerProblems(em: EntityManager, projectId: string, userId: string, owner: string | undefined) {
  if (owner === undefined) return [];
  const id = storableText(owner);
  const isNamable =
    (await em.existsBy(Agents, { id, projectId })) || (await findVisibleAgent(em, userId, id)) !== undefined;
  if (isNamable && (await mayServe(em, id, projectId))) return [];
  const named = await findAgentsByName(em, id, projectId, userId);
  const message =
    named.length > 1
      ? `owner must name one agent, and ${named.length} are named ${owner}; give the id of one of them: ${named.map((a) => a.id).join(', ')}`
      : `owner must be an agent that may work in this project, not ${owner}`;
  return [{ path: 'owner', message }];
}

/**
 * Returns the id of the agent that an owner names: its id, or its name if no other agent of the project has it. Anything else is
 * returned as it is, and `ownerProblems` says what is wrong with it.
 */
export async function ownerIdOf<Owner extends string | null | undefined>(
  em: EntityManager,
  projectId: string,
  userId: string,
  owner: Owner,
): Promise<Owner | string> {
  if (owner === undefined || owner === null) return owner;
  const text = storableText(owner);
  if ((await findVisibleAgent(em, userId, text)) !== undefined) return owner;
  const [agent, ...others] = await findAgentsByName(em, text, projectId, userId);
  return agent === undefined || others.length > 0 ? owner : agent.id;
}

export async function dependencyProblems(em: EntityManager, projectId: string, ids: string[]): Promise<Problem[]> {
  if (ids.length === 0) return [];
  const known = await tasksAmong(em, projectId, ids);
  return ids.flatMap((id, i) =>
    known.has(id)
      ? []
      : [{ path: `dependsOn.${i}`, message: `dependsOn.${i} must be a task of this project, not ${id}` }],
  );
}

export async function repositoryProblems(
  em: EntityManager,
  projectId: string,
  id: string | undefined,
): Promise<Problem[]> {
  if (id === undefined || (await em.existsBy(Repositories, { id: storableText(id), projectId }))) return [];
  return [{ path: 'repositoryId', message: `repositoryId must be a repository of this project, not ${id}` }];
}

async function sprintProblems(em: EntityManager, projectId: string, id: string | undefined): Promise<Problem[]> {
  if (id === undefined || (await lockSprintForTask(em, projectId, storableText(id))) !== undefined) return [];
  return [{ path: 'sprintId', message: `sprintId must be a sprint of this project, not ${id}` }];
}

/**
 * Returns the id of the sprint that a new task joins.
 * @throws Refused when the sprint has ended
 */
async function openSprint(em: EntityManager, projectId: string, id: string | undefined): Promise<string | null> {
  if (id === undefined) return null;
  const status = await lockSprintForTask(em, projectId, id);
  if (status !== 'planning' && status !== 'active')
    throw new Refused(`A task can only join a sprint that is planning or active; this one is ${status}.`);
  return id;
}

/**
 * Returns the diff of the change that waits for approval, otherwise as of the last push. It is empty while the task has
 * no branch.
 */
export async function readDiff(app: App, task: TaskView) {
  const em = app.db.manager;
  const stored = (await findHeldDiff(em, task.id)) ?? (await findDiff(em, task.id));
  if (stored !== undefined) {
    const { branchName, baseBranch, files, truncated } = stored;
    return { taskId: task.id, branchName, baseBranch, files, ...(truncated ? { truncated } : {}) };
  }
  const repository = task.repositoryId === null ? null : await findRepository(em, task.repositoryId);
  return {
    taskId: task.id,
    branchName: task.branchName ?? '',
    baseBranch: task.base ?? repository?.defaultBranch ?? 'main',
    files: [],
  };
}

type NewTask = z.output<typeof CreateTasks>['tasks'][number];

/**
 * Creates several tasks in the given order, all or none. A dependency may be the `ref` of another task in the list.
 * @throws AppError 400 naming each field that is wrong
 */
export async function createTasks(app: App, projectId: string, userId: string, given: NewTask[]): Promise<TaskView[]> {
  const tasks: NewTask[] = [];
  for (const task of given)
    tasks.push({ ...task, owner: await ownerIdOf(app.db.manager, projectId, userId, task.owner) });
  if (tasks.some(({ base }) => base)) await assertTaskReferences(app.db.manager, projectId, userId, tasks);
  await assertBases(
    app,
    projectId,
    tasks.map((task, i) => ({ ...task, path: `tasks.${i}.base` })),
  );
  return app.db.transaction(async (em) => {
    const created = await createTasksIn(app, em, projectId, userId, tasks);
    app.audit.note({ tasks: [null, created.map(({ id }) => id).join(', ')] });
    return created;
  });
}

/**
 * Creates several tasks, like `createTasks`, in the caller's transaction. `directedBy` are the people whose words they
 * follow, if not only those of the person who creates them.
 */
export async function createTasksIn(
  app: App,
  em: EntityManager,
  projectId: string,
  userId: string,
  tasks: NewTask[],
  directedBy = [userId],
): Promise<TaskView[]> {
  await assertTaskReferences(em, projectId, userId, tasks);
  const ids: string[] = [];
  for (const { ref: _ref, dependsOn: _insertedBelow, issue, ...task } of tasks)
    ids.push(await insertTask(app, em, projectId, { ...task, wantsIssue: issue, createdBy: userId, directedBy }));
  const byRef = new Map(tasks.map((task, i) => [task.ref, ids[i] as string]));
  for (const [i, { dependsOn }] of tasks.entries()) {
    const resolved = dependsOn.map((id) => byRef.get(id) ?? id);
    if (resolved.length > 0) await replaceDependencies(em, ids[i] as string, [...new Set(resolved)]);
  }
  return getTasks(em, ids);
}

/** @throws AppError 400 naming each field that is wrong */
async function assertTaskReferences(em: EntityManager, projectId: string, userId: string, tasks: NewTask[]) {
  const problems = [...refProblems(tasks), ...(await referenceProblems(em, projectId, userId, tasks))];
  if (problems.length > 0) throw badRequest(problems);
}

/** Finds refs that are used twice, and cycles of dependencies among the new tasks. */
function refProblems(tasks: NewTask[]): Problem[] {
  const problems: Problem[] = [];
  const byRef = new Map<string, NewTask>();
  for (const [i, task] of tasks.entries()) {
    if (task.ref === undefined) continue;
    const path = `tasks.${i}.ref`;
    if (byRef.has(task.ref))
      problems.push({ path, message: `${path} must differ from the refs of earlier tasks; it is ${task.ref}` });
    byRef.set(task.ref, task);
  }
  const state = new Map<NewTask, 'open' | 'done'>();
  const closesCycle = (task: NewTask): boolean => {
    if (state.has(task)) return state.get(task) === 'open';
    state.set(task, 'open');
    const found = task.dependsOn.some((id) => {
      const next = byRef.get(id);
      return next !== undefined && closesCycle(next);
    });
    state.set(task, 'done');
    return found;
  };
  for (const [i, task] of tasks.entries()) {
    const path = `tasks.${i}.dependsOn`;
    if (closesCycle(task))
      problems.push({
        path,
        message: `${path} must not make the task depend on itself, directly or through other tasks`,
      });
  }
  return problems;
}

async function referenceProblems(
  em: EntityManager,
  projectId: string,
  userId: string,
  tasks: NewTask[],
): Promise<Problem[]> {
  const refs = new Set(tasks.map((t) => t.ref));
  const ids = tasks.flatMap((t) => t.dependsOn).filter((id) => !refs.has(id));
  const known = await tasksAmong(em, projectId, ids);
  const problems: Problem[] = [];
  for (const [i, task] of tasks.entries()) {
    const own = [
      ...(await ownerProblems(em, projectId, userId, task.owner)),
      ...(await repositoryProblems(em, projectId, task.repositoryId)),
      ...(await sprintProblems(em, projectId, task.sprintId)),
      ...task.dependsOn.flatMap((id, n) => {
        const path = `dependsOn.${n}`;
        return refs.has(id) || known.has(id)
          ? []
          : [{ path, message: `${path} must be a task of this project or a ref of this request, not ${id}` }];
      }),
    ];
    problems.push(
      ...own.map(({ path, message }) => ({ path: `tasks.${i}.${path}`, message: `tasks.${i}.${message}` })),
    );
  }
  return problems;
}

type Texts = Partial<Record<'title' | 'description', string | undefined>>;

/** @throws Refused if somebody else has changed one of the texts that a person saw and replaces */
export function assertReplaces(task: TaskView, seen: Texts = {}): void {
  const changed = (['title', 'description'] as const).find((name) => (seen[name] ?? task[name]) !== task[name]);
  if (changed !== undefined)
    throw new Refused(`Somebody else has changed the ${changed} since you read it. Reload to see their change.`);
}

import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import type { Changes } from '../domain/audit.ts';
import { nextState, Refused } from '../domain/machine.ts';
import { lengthProblem, usualDays } from '../domain/sprint.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import { planName, wizardMachine } from '../domain/wizard.ts';
import { badField } from '../errors.ts';
import { listProjectRepositories } from '../repositories/store.ts';
import { insertSprint } from '../sprints/store.ts';
import { createTasksIn, ownerProblems } from '../tasks/operations.ts';
import { showPlan } from './operations.ts';
import type { CreatePlannedSprint, FinalizeWizard } from './schemas.ts';
import {
  changedByOthers,
  lockSession,
  type PlannedSprint,
  type PlannedTask,
  type Session,
  updateSession,
} from './store.ts';
import { withConnected } from './view.ts';

const dayMs = 86_400_000;
/** The last day with a four-digit year, which the format of the API requires. */
const lastDay = Date.parse('9999-12-31');

/**
 * Creates the sprint, its tasks and their dependencies, all or none. For a session that is already finalized, returns
 * the existing sprint. The tasks follow the words of everybody who had a say in the plan: on GitHub, the person who
 * approves it sees only their titles. `also` is called in the same transaction.
 * @throws Refused until the tasks are generated, or if the session has changed since it was read; AppError 400
 */
export async function finalizeWizard(
  app: App,
  session: Session,
  userId: string,
  input: z.output<typeof FinalizeWizard>,
  also?: (em: EntityManager) => Promise<void>,
): Promise<{ made: PlannedSprint; isRepeated: boolean }> {
  return app.db.transaction(async (em) => {
    // Of two simultaneous requests, the second waits for this lock and then finds the session finalized.
    const now = await lockSession(em, session.projectId, session.id);
    if (now.result !== null) {
      app.audit.note({});
      return { made: now.result, isRepeated: true };
    }
    const status = nextState(wizardMachine, now.status, 'finalize', { isLast: false });
    // Disconnecting a repository changes no version, but where the tasks would work.
    const isSame = now.version === session.version && isDeepStrictEqual(now.repositoryIds, session.repositoryIds);
    if (!isSame) throw changedByOthers();
    if (now.wish !== null) throw new Refused('This plan is being rewritten. Approve it when the new version is there.');
    const tasks = await tasksToCreate(em, now, userId, input.tasks);
    const made = await makeSprint(app, em, now.projectId, userId, {
      name: input.name ?? oneLine(now.prd?.title || planName(now), 200),
      goal: now.goal,
      startDate: input.startDate,
      endDate: input.endDate,
      tasks,
      directedBy: [...new Set([...now.directedBy, userId])],
    });
    // Before the update, which changes `now`.
    app.audit.note({ status: [now.status, status], ...created(made) });
    await updateSession(em, now, { status, result: made, sprintId: made.sprint.id, changedBy: userId });
    await also?.(em);
    await showPlan(app, em, now);
    await app.queue.send(em, 'prd', { projectId: now.projectId, sessionId: now.id, userId }, { key: now.id });
    return { made, isRepeated: false };
  });
}

/** Returns the tasks of a plan, or those that a person sent instead of them, with their repositories. */
async function tasksToCreate(
  em: EntityManager,
  session: Session,
  userId: string,
  edited: PlannedTask[] | undefined,
): Promise<NewTask[]> {
  const planned = edited ?? (await withConnected(em, session.projectId, session.tasks ?? []));
  const repositoryId = session.repositoryIds[0] ?? session.issueRepositoryId ?? undefined;
  // A plan that was made in an issue gets issues for its tasks too, where the App can create them.
  const isInIssue = session.issueNumber !== null && session.issueRepositoryId !== null;
  const withIssues = isInIssue ? await installedRepositories(em, session.projectId) : new Set<string>();
  const tasks: NewTask[] = [];
  for (const task of planned) {
    // If the suggested agent was deleted since, its task gets no owner.
    const isUsable = (await ownerProblems(em, session.projectId, userId, task.owner ?? undefined)).length === 0;
    const where = task.repositoryId ?? repositoryId;
    const issue = where !== undefined && withIssues.has(where);
    tasks.push({ ...task, owner: isUsable ? task.owner : null, repositoryId: where, issue });
  }
  return tasks;
}

/** Creates a sprint with tasks that a person wrote. @throws AppError 400 naming the field */
export async function createPlannedSprint(
  app: App,
  projectId: string,
  userId: string,
  input: z.output<typeof CreatePlannedSprint>,
): Promise<PlannedSprint> {
  const tasks = input.tasks.map((task) => ({ ...task, owner: task.owner ?? null, dependsOn: [], issue: false }));
  return app.db.transaction(async (em) => {
    const made = await makeSprint(app, em, projectId, userId, { ...input, tasks });
    app.audit.note(created(made));
    return made;
  });
}

function created({ sprint, tasks }: PlannedSprint): Changes {
  return { sprint: [null, sprint.name], tasks: [null, tasks.map(({ id }) => id).join(', ')] };
}

async function installedRepositories(em: EntityManager, projectId: string): Promise<Set<string>> {
  const all = await listProjectRepositories(em, projectId);
  return new Set(all.filter(({ isInstalled }) => isInstalled).map(({ id }) => id));
}

interface NewTask extends Pick<PlannedTask, 'title' | 'description' | 'owner' | 'dependsOn'> {
  ref?: string;
  repositoryId?: string | undefined;
  issue: boolean;
}

interface NewSprint {
  name: string;
  goal: string;
  startDate?: string | undefined;
  endDate?: string | undefined;
  tasks: NewTask[];
  /** The users whose words the tasks follow; by default the person who creates the sprint. */
  directedBy?: string[];
}

async function makeSprint(
  app: App,
  em: EntityManager,
  projectId: string,
  userId: string,
  { tasks, name, goal, directedBy, ...dates }: NewSprint,
): Promise<PlannedSprint> {
  const startDate = dates.startDate ?? new Date().toISOString().slice(0, 10);
  const last = new Date(Math.min(Date.parse(startDate) + (usualDays - 1) * dayMs, lastDay));
  const endDate = dates.endDate ?? last.toISOString().slice(0, 10);
  const problem = lengthProblem(startDate, endDate);
  if (problem !== undefined) throw badField('endDate', `endDate ${problem}`);
  const id = newId('sprint');
  await insertSprint(em, { id, projectId, name, goal, startDate, endDate }, directedBy ?? [userId]);
  const made = await createTasksIn(
    app,
    em,
    projectId,
    userId,
    tasks.map(({ ref, title, description, dependsOn, owner, repositoryId, issue }) => ({
      ref,
      title,
      description,
      dependsOn,
      owner: owner ?? undefined,
      repositoryId,
      issue,
      status: 'backlog' as const,
      sprintId: id,
    })),
    directedBy,
  );
  return { sprint: { id, name }, tasks: made.map(({ id: taskId, title }) => ({ id: taskId, title })) };
}

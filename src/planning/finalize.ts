import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import type { Changes } from '../domain/audit/changes.ts';
import { nextState } from '../domain/machine.ts';
import { lengthProblem } from '../domain/sprint.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import { wizardMachine } from '../domain/wizard.ts';
import { badField } from '../errors.ts';
import { insertSprint } from '../sprints/store.ts';
import { createTasksIn } from '../tasks/bulk.ts';
import { ownerProblems } from '../tasks/operations.ts';
import { showPlan } from './operations.ts';
import type { CreatePlannedSprint, FinalizeWizard } from './schemas.ts';
import { lockSession, type PlannedSprint, type PlannedTask, type Session, updateSession } from './store.ts';

/** The length of a sprint without given dates: two weeks. */
const sprintDays = 14;
const dayMs = 86_400_000;
/** The last day with a four-digit year, which the format of the API requires. */
const lastDay = Date.parse('9999-12-31');

/**
 * Creates the sprint, its tasks and their dependencies, all or none. For a session that is already finalized, returns
 * the existing sprint. `also` is called in the same transaction.
 * @throws Refused until the tasks are generated; AppError 400
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
    const planned: PlannedTask[] = [];
    for (const task of input.tasks ?? now.tasks ?? []) {
      // If the suggested agent was deleted since, its task gets no owner.
      const isUsable = (await ownerProblems(em, now.projectId, userId, task.owner ?? undefined)).length === 0;
      planned.push({ ...task, owner: isUsable ? task.owner : null });
    }
    const made = await makeSprint(app, em, now.projectId, userId, {
      name: input.name ?? oneLine(now.prd?.title || now.goal, 200),
      goal: now.goal,
      startDate: input.startDate,
      endDate: input.endDate,
      repositoryId: now.repositoryId ?? now.issueRepositoryId ?? undefined,
      // A plan that was made in an issue gets issues for its tasks too.
      issue: now.issueNumber !== null && now.issueRepositoryId !== null,
      tasks: planned,
    });
    await updateSession(em, now, { status, result: made });
    app.audit.note({ status: [now.status, status], ...created(made) });
    await also?.(em);
    await showPlan(app, em, now);
    await app.queue.send(em, 'prd', { projectId: now.projectId, sessionId: now.id }, { key: now.id });
    return { made, isRepeated: false };
  });
}

/** Creates a sprint with tasks that a person wrote. @throws AppError 400 naming the field */
export async function createPlannedSprint(
  app: App,
  projectId: string,
  userId: string,
  input: z.output<typeof CreatePlannedSprint>,
): Promise<PlannedSprint> {
  const tasks = input.tasks.map((task) => ({ ...task, owner: task.owner ?? null, dependsOn: [] }));
  return app.db.transaction(async (em) => {
    const made = await makeSprint(app, em, projectId, userId, { ...input, tasks, issue: false });
    app.audit.note(created(made));
    return made;
  });
}

function created({ sprint, tasks }: PlannedSprint): Changes {
  return { sprint: [null, sprint.name], tasks: [null, tasks.map(({ id }) => id).join(', ')] };
}

interface NewSprint {
  name: string;
  goal: string;
  startDate?: string | undefined;
  endDate?: string | undefined;
  repositoryId?: string | undefined;
  issue: boolean;
  tasks: (Omit<PlannedTask, 'ref'> & { ref?: string })[];
}

async function makeSprint(
  app: App,
  em: EntityManager,
  projectId: string,
  userId: string,
  { tasks, name, goal, repositoryId, issue, ...dates }: NewSprint,
): Promise<PlannedSprint> {
  const startDate = dates.startDate ?? new Date().toISOString().slice(0, 10);
  const last = new Date(Math.min(Date.parse(startDate) + (sprintDays - 1) * dayMs, lastDay));
  const endDate = dates.endDate ?? last.toISOString().slice(0, 10);
  const problem = lengthProblem(startDate, endDate);
  if (problem !== undefined) throw badField('endDate', `endDate ${problem}`);
  const id = newId('sprint');
  await insertSprint(em, { id, projectId, name, goal, startDate, endDate });
  const made = await createTasksIn(
    app,
    em,
    projectId,
    userId,
    tasks.map(({ owner, ...task }) => ({
      ...task,
      owner: owner ?? undefined,
      status: 'backlog' as const,
      issue,
      sprintId: id,
      repositoryId,
    })),
  );
  return { sprint: { id, name }, tasks: made.map(({ id: taskId, title }) => ({ id: taskId, title })) };
}

import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import { nextState } from '../domain/machine.ts';
import { lengthProblem } from '../domain/sprint.ts';
import { oneLine } from '../domain/text/quoted.ts';
import { wizardMachine } from '../domain/wizard.ts';
import { badField } from '../errors.ts';
import { insertSprint } from '../sprints/store.ts';
import { createTasksIn } from '../tasks/bulk.ts';
import { ownerProblems } from '../tasks/operations.ts';
import { showPlan } from './operations.ts';
import type { CreatePlannedSprint, FinalizeWizard } from './schemas.ts';
import { getSession, type PlannedSprint, type PlannedTask, type Session, updateSession } from './store.ts';

/** A sprint of the wizard's lasts two weeks unless it is said otherwise (decisions, section 8). */
const sprintDays = 14;
const dayMs = 86_400_000;
/** A day is written with four digits of the year. */
const lastDay = Date.parse('9999-12-31');

/**
 * Makes the sprint, its tasks and their dependencies, all or nothing. A session that was finalized before answers the
 * same again.
 * @throws Refused before the tasks are there; AppError 400
 */
export async function finalizeWizard(
  app: App,
  session: Session,
  userId: string,
  input: z.output<typeof FinalizeWizard>,
  also?: (em: EntityManager) => Promise<void>,
): Promise<{ made: PlannedSprint; isRepeated: boolean }> {
  return app.db.transaction(async (em) => {
    // Of two at once the second waits here, and finds it done.
    await em.query('select 1 from wizard_sessions where id = $1 for update', [session.id]);
    const now = await getSession(em, session.projectId, session.id);
    if (now.result !== null) return { made: now.result, isRepeated: true };
    const status = nextState(wizardMachine, now.status, 'finalize', { isLast: false });
    const planned: PlannedTask[] = [];
    for (const task of input.tasks ?? now.tasks ?? []) {
      // Gone since it was suggested, an agent leaves the task to whoever is chosen later.
      const isFit = (await ownerProblems(em, now.projectId, userId, task.owner ?? undefined)).length === 0;
      planned.push({ ...task, owner: isFit ? task.owner : null });
    }
    const made = await makeSprint(app, em, now.projectId, userId, {
      name: input.name ?? oneLine(now.prd?.title || now.goal, 200),
      goal: now.goal,
      startDate: input.startDate,
      endDate: input.endDate,
      repositoryId: now.repositoryId ?? now.issueRepositoryId ?? undefined,
      // Who plans in an issue sees the tasks there too.
      issue: now.issueNumber !== null && now.issueRepositoryId !== null,
      tasks: planned,
    });
    await updateSession(em, now, { status, result: made });
    await also?.(em);
    await showPlan(app, em, now);
    await app.queue.send(em, 'prd', { projectId: now.projectId, sessionId: now.id }, { key: now.id });
    return { made, isRepeated: false };
  });
}

/** Makes a sprint with its tasks from what somebody wrote. @throws AppError 400 naming the field */
export async function createPlannedSprint(
  app: App,
  projectId: string,
  userId: string,
  input: z.output<typeof CreatePlannedSprint>,
): Promise<PlannedSprint> {
  const tasks = input.tasks.map((task) => ({ ...task, owner: task.owner ?? null, dependsOn: [] }));
  return app.db.transaction((em) => makeSprint(app, em, projectId, userId, { ...input, tasks, issue: false }));
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
  if (problem !== undefined) throw badField('endDate', `endDate: ${problem}`);
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

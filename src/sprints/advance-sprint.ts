import type { App } from '../app.ts';
import { exhaustedDay } from '../domain/budget.ts';
import { Refused } from '../domain/machine.ts';
import { type Failure, failure } from '../domain/run.ts';
import { AppError } from '../errors.ts';
import { limitsFor } from '../runs/agent/assignment.ts';
import { startTask } from '../runs/operations.ts';
import { costOfDay } from '../runs/store.ts';
import { showTask } from '../tasks/move.ts';
import { findActiveSprint } from './store.ts';

/**
 * Starts what can start in the active sprint of a project: a task with an owner whose dependencies are done, once. What
 * has run before is a person's to start again. What could not start says why; it is tried again at the next look.
 */
export async function advanceSprint(app: App, projectId: string): Promise<void> {
  const sprint = await findActiveSprint(app.db.manager, projectId);
  if (sprint === undefined) return;
  for (const taskId of await listStartable(app, sprint.id)) {
    const reason = await dayIsOver(app, projectId);
    if (reason !== undefined) {
      await sayWhy(app, taskId, failure('budget', reason));
      continue;
    }
    try {
      await startTask(app, { taskId, startedBy: sprint.startedBy, kind: 'start' });
    } catch (error) {
      const why = reasonOf(error);
      if (why === undefined) throw error;
      await sayWhy(app, taskId, why);
    }
  }
}

async function listStartable(app: App, sprintId: string): Promise<string[]> {
  const rows: { id: string }[] = await app.db.manager.query(
    `select t.id from tasks t
     where t.sprint_id = $1 and t.status in ('backlog', 'ready') and t.owner is not null
       and not exists (select 1 from runs r where r.task_id = t.id)
       and not exists (select 1 from task_dependencies d join tasks o on o.id = d.depends_on_id
         where d.task_id = t.id and o.status <> 'done')
     order by t.created_at, t.id`,
    [sprintId],
  );
  return rows.map((r) => r.id);
}

async function dayIsOver(app: App, projectId: string): Promise<string | undefined> {
  const { dayCostUsd } = await limitsFor(app, projectId);
  const usedUp = exhaustedDay(dayCostUsd, await costOfDay(app.db.manager, projectId));
  return usedUp && `${usedUp}; the task starts tomorrow`;
}

/** Why a start was refused; undefined for what is no refusal. */
function reasonOf(error: unknown): Failure | undefined {
  // The table's refusals that remain here: repository and owner do not fit.
  if (error instanceof Refused) return failure('repository', `could not start: ${error.message}`);
  if (!(error instanceof AppError)) return undefined;
  return failure(error.status === 503 ? 'auth' : 'repository', `could not start: ${error.message}`);
}

async function sayWhy(app: App, taskId: string, why: Failure): Promise<void> {
  const [, changed] = await app.db.manager.query(
    `update tasks set failure = $2, updated_at = now()
     where id = $1 and status in ('backlog', 'ready') and failure is distinct from $2::jsonb`,
    [taskId, JSON.stringify(why)],
  );
  if (changed > 0) await showTask(app, undefined, taskId);
}

/** The projects whose sprints may go on; for what looks at everything from time to time. */
export async function advanceAllSprints(app: App): Promise<void> {
  const rows: { projectId: string }[] = await app.db.manager.query(
    `select project_id as "projectId" from sprints where status = 'active'`,
  );
  for (const { projectId } of rows) await app.queue.send(undefined, 'sprint', { projectId }, { key: projectId });
}

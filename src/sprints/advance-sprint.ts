import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { Refused } from '../domain/machine.ts';
import { type Failure, failure } from '../domain/run.ts';
import type { TaskStatus } from '../domain/task.ts';
import { fewestCollisionsFirst } from '../domain/text/named-paths.ts';
import { AppError } from '../errors.ts';
import { dayIsOver } from '../projects/budgets.ts';
import { startTask } from '../runs/operations.ts';
import { listBusyFiles, listFilesOf, type TaskFiles } from '../tasks/collisions/store.ts';
import { queueMirror } from '../tasks/move.ts';
import { findActiveSprint } from './store.ts';

/** SQL: whether the sprint of task t starts it while the sprint is active. `done` is a dependency to regard as done. */
const starts = (done = 'null') => `t.status in ('backlog', 'ready') and t.owner is not null
  and not exists (select 1 from runs r where r.task_id = t.id)
  and not exists (select 1 from task_dependencies d join tasks o on o.id = d.depends_on_id
    where d.task_id = t.id and o.status <> 'done' and o.id is distinct from ${done})`;

/**
 * Returns the ids of the sprint's tasks that can start: they have an owner, all their dependencies are done, and they
 * have never run. Oldest first.
 */
async function listStartable(em: EntityManager, sprintId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select t.id from tasks t where t.sprint_id = $1 and ${starts()} order by t.created_at, t.id`,
    [sprintId],
  );
  return rows.map((r) => r.id);
}

/** A task that depends on another one. */
export interface Dependent {
  id: string;
  title: string;
  status: TaskStatus;
  /** Whether the active sprint starts it as soon as the other task is done. */
  starts: boolean;
}

/** Returns the tasks that depend on a task and are not done, at most 30. Those that start when it is done come first. */
export async function listDependents(em: EntityManager, taskId: string): Promise<Dependent[]> {
  return em.query(
    `select t.id, t.title, t.status, coalesce(s.status = 'active', false) and ${starts('$1')} as starts
     from task_dependencies w join tasks t on t.id = w.task_id left join sprints s on s.id = t.sprint_id
     where w.depends_on_id = $1 and t.status <> 'done' order by 4 desc, t.created_at, t.id limit 30`,
    [taskId],
  );
}

/** Stores why a task could not start, unless it has started since. Returns whether this changed anything. */
async function setFailure(em: EntityManager, taskId: string, failure: Failure): Promise<boolean> {
  const [, changed]: [unknown, number] = await em.query(
    `update tasks set failure = $2, updated_at = now()
     where id = $1 and status in ('backlog', 'ready') and failure is distinct from $2::jsonb`,
    [taskId, JSON.stringify(failure)],
  );
  return changed > 0;
}

async function listProjectsWithActiveSprint(em: EntityManager): Promise<string[]> {
  const rows: { id: string }[] = await em.query(`select project_id as id from sprints where status = 'active'`);
  return rows.map((r) => r.id);
}

/**
 * Starts the tasks of a project's active sprint that have an owner, whose dependencies are done, and that have never
 * run. A task that has run is started again only by a person. If a task cannot start, the reason is stored as its
 * failure, and the next call tries again.
 */
export async function advanceSprint(app: App, projectId: string): Promise<void> {
  const sprint = await findActiveSprint(app.db.manager, projectId);
  if (sprint === undefined) return;
  for (const taskId of await inOrder(app.db.manager, projectId, await listStartable(app.db.manager, sprint.id))) {
    const usedUp = await dayIsOver(app, projectId);
    if (usedUp !== undefined) {
      await showFailure(app, taskId, failure('budget', `${usedUp}; the task starts tomorrow`));
      continue;
    }
    try {
      await startTask(app, { taskId, startedBy: sprint.startedBy, isAutomatic: true, kind: 'start' });
    } catch (error) {
      const why = whyNotStarted(error);
      if (why === undefined) throw error;
      await showFailure(app, taskId, why);
    }
  }
}

/** Further tasks that can start are not compared with each other. */
const maxOrdered = 200;

/** Orders tasks so that those which will probably not touch the files of others in progress start first. */
async function inOrder(em: EntityManager, projectId: string, taskIds: string[]): Promise<string[]> {
  if (taskIds.length < 2) return taskIds;
  const busy = await listBusyFiles(em, projectId, null);
  const starting = await listFilesOf(em, taskIds.slice(0, maxOrdered));
  const within = ({ repositoryId, files }: TaskFiles) => files.map((path) => `${repositoryId ?? ''}/${path}`);
  const ordered = fewestCollisionsFirst(
    starting.map((task) => ({ id: task.id, files: within(task) })),
    busy.flatMap(within),
  );
  return [...ordered, ...taskIds.slice(maxOrdered)];
}

/** Returns why a start was refused; undefined for any other error. */
export function whyNotStarted(error: unknown): Failure | undefined {
  // Listed tasks meet all other conditions of a start, so the reason is the repository or the owner.
  if (error instanceof Refused) return failure('repository', `The task could not be started. ${error.message}`);
  if (!(error instanceof AppError)) return undefined;
  return failure(error.status === 503 ? 'auth' : 'repository', `The task could not be started. ${error.message}`);
}

async function showFailure(app: App, taskId: string, why: Failure): Promise<void> {
  if (await setFailure(app.db.manager, taskId, why)) await queueMirror(app, undefined, taskId);
}

/** Queues a check of every active sprint. Called periodically, because an event may have been lost. */
export async function advanceAllSprints(app: App): Promise<void> {
  for (const projectId of await listProjectsWithActiveSprint(app.db.manager))
    await app.queue.send(undefined, 'sprint', { projectId }, { key: projectId });
}

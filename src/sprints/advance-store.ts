import type { EntityManager } from 'typeorm';
import type { Failure } from '../domain/run.ts';
import type { TaskStatus } from '../domain/task.ts';

/** SQL: whether the sprint of task t starts it while the sprint is active. `done` is a dependency to regard as done. */
const starts = (done = 'null') => `t.status in ('backlog', 'ready') and t.owner is not null
  and not exists (select 1 from runs r where r.task_id = t.id)
  and not exists (select 1 from task_dependencies d join tasks o on o.id = d.depends_on_id
    where d.task_id = t.id and o.status <> 'done' and o.id is distinct from ${done})`;

/**
 * Returns the ids of the sprint's tasks that can start: they have an owner, all their dependencies are done, and they
 * have never run. Oldest first.
 */
export async function listStartable(em: EntityManager, sprintId: string): Promise<string[]> {
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
export async function setFailure(em: EntityManager, taskId: string, failure: Failure): Promise<boolean> {
  const [, changed] = await em.query(
    `update tasks set failure = $2, updated_at = now()
     where id = $1 and status in ('backlog', 'ready') and failure is distinct from $2::jsonb`,
    [taskId, JSON.stringify(failure)],
  );
  return changed > 0;
}

export async function listProjectsWithActiveSprint(em: EntityManager): Promise<string[]> {
  const rows: { id: string }[] = await em.query(`select project_id as id from sprints where status = 'active'`);
  return rows.map((r) => r.id);
}

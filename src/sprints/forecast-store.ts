import type { EntityManager } from 'typeorm';
import type { OpenHistory } from '../domain/forecast/forecast.ts';
import { mostFinished, type RunTime, type Stay, type TaskHistory } from '../domain/forecast/history.ts';
import { informative, latest, type SprintView } from './store.ts';

type Past = Pick<TaskHistory, 'stays' | 'runs'>;
type WithoutPast<T extends TaskHistory> = Omit<T, keyof Past>;

/** SQL: the ids of the tasks that task t waits for, its subtasks included. */
const dependsOn = `array(
  select d.depends_on_id from task_dependencies d where d.task_id = t.id
  union all select c.id from tasks c where c.parent_id = t.id)`;

/**
 * Returns the tasks of a sprint that are not done, and all others that they wait for, in the sprint or not. The tasks in
 * `without` do not belong to the sprint. Returns at most `most` tasks, and at most `mostWaits` ids that they depend on.
 */
export async function listOpenTasks(
  em: EntityManager,
  sprintId: string,
  without: string[],
  most: number,
  mostWaits: number,
): Promise<WithoutPast<OpenHistory>[]> {
  return em.query(
    `with recursive counted as (
       select id from tasks
       where sprint_id = $1 and status <> 'done' and id <> all($2) and (parent_id is null or parent_id <> all($2))),
     open (id) as (
       select id from counted
       union
       select t.id from open o
       cross join lateral (
         select d.depends_on_id as id from task_dependencies d where d.task_id = o.id
         union all select c.id from tasks c where c.parent_id = o.id) needed
       join tasks t on t.id = needed.id and t.status <> 'done'),
     listed as materialized (select id from open limit $3),
     -- A thousand tasks may have a hundred thousand of them, which take long to read.
     waits as (
       select id, array_agg(needed) as needed from (
         select t.id, unnest(${dependsOn}) as needed from listed t limit $4) w
       group by id)
     select t.id, t.owner, coalesce(w.needed, '{}') as "dependsOn", t.id in (select id from counted) as "isCounted",
       coalesce((select case r.status when 'running' then 'working' else 'queued' end from runs r
           where r.task_id = t.id and r.status in ('queued', 'running')),
         case t.status when 'in_review' then 'in_review' else 'idle' end) as phase
     from listed o
     left join waits w on w.id = o.id
     -- Looked up one by one; PostgreSQL expects many and would read the whole table for them.
     cross join lateral (select * from tasks where id = o.id offset 0) t
     order by t.created_at, t.id`,
    [sprintId, without, most, mostWaits],
  );
}

/** Returns the latest finished tasks of a sprint and of completed sprints before it. Deleted tasks have no owner. */
export async function listFinishedTasks(
  em: EntityManager,
  sprint: SprintView,
  now: Date,
): Promise<WithoutPast<TaskHistory>[]> {
  return em.query(
    `select f.task_id as id, t.owner, ${dependsOn} as "dependsOn"
     from (
       select l.task_id, max(l.at) as at from (${informative}) s cross join lateral (${latest}) l
       where l.status = 'done' group by l.task_id order by at desc limit ${mostFinished}) f
     left join tasks t on t.id = f.task_id`,
    [sprint.id, sprint.projectId, now],
  );
}

/** Adds to tasks what they went through in these sprints, until now. */
export async function addPasts<T extends { id: string }>(
  em: EntityManager,
  sprint: SprintView,
  tasks: T[],
  now: Date,
): Promise<(T & Past)[]> {
  if (tasks.length === 0) return [];
  const given = [sprint.id, sprint.projectId, now, tasks.map(({ id }) => id)];
  const stays: (Omit<Stay, 'status'> & { taskId: string; status: Stay['status'] | null })[] = await em.query(
    // What happened before the start of a sprint counts from its start.
    `select h.task_id as "taskId", h.status, ${milliseconds('h.since')} as "from",
       ${milliseconds('lead(h.since, 1, coalesce(h.ended_at, $3)) over (partition by h.sprint_id, h.task_id order by h.at, h.id)')} as "to"
     from (
       select h.*, greatest(h.at, s.started_at) as since, s.ended_at from (${informative}) s
       -- Looked up for each sprint; PostgreSQL expects few rows and would read the history of all sprints for them.
       cross join lateral (select * from sprint_history where sprint_id = s.id and task_id = any($4) offset 0) h) h
     order by h.since, h.at, h.id`,
    given,
  );
  const runs: (RunTime & { taskId: string })[] = await em.query(
    `select task_id as "taskId", ${milliseconds('started_at')} as "from",
       ${milliseconds('coalesce(finished_at, waiting_since, $2)')} as "to", waited_seconds * 1000 as waited
     from runs where task_id = any($1) and started_at is not null order by started_at`,
    [given[3], now],
  );
  const staysOf = Map.groupBy(stays, ({ taskId }) => taskId);
  const runsOf = Map.groupBy(runs, ({ taskId }) => taskId);
  return tasks.map((task) => ({
    ...task,
    stays: (staysOf.get(task.id) ?? []).filter(isInSprint),
    runs: runsOf.get(task.id) ?? [],
  }));
}

function isInSprint<T extends { status: unknown }>(stay: T): stay is T & Stay {
  return stay.status !== null;
}

function milliseconds(time: string): string {
  return `(extract(epoch from ${time}) * 1000)::float8`;
}

/** Counts the agents of a project, without earlier versions. */
export async function countAgents(em: EntityManager, projectId: string): Promise<number> {
  const [{ count }]: [{ count: number }] = await em.query(
    `select count(*)::int as count from agents where project_id = $1 and is_newest`,
    [projectId],
  );
  return count;
}

/** Returns those of the given ids that are tasks of a sprint. */
export async function knownTasks(em: EntityManager, sprintId: string, ids: string[]): Promise<Set<string>> {
  const rows: { id: string }[] = await em.query('select id from tasks where sprint_id = $1 and id = any($2)', [
    sprintId,
    ids,
  ]);
  return new Set(rows.map(({ id }) => id));
}

import type { EntityManager } from 'typeorm';
import { liveRun } from '../db/tables/run.ts';
import type { SprintStatus } from '../domain/sprint.ts';
import type { TaskStatus } from '../domain/task.ts';
import { notFound } from '../errors.ts';
import { assertSprintFits, type TaskView, taskColumns } from '../tasks/store.ts';

/** A sprint as the API shows it; days are `YYYY-MM-DD`. */
export interface SprintView {
  id: string;
  projectId: string;
  name: string;
  goal: string;
  status: SprintStatus;
  startDay: string;
  endDay: string;
  startDate: Date;
  endDate: Date;
  startedBy: string | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  taskCount: number;
  completedCount: number;
}

/** SQL: the latest status of each task in the history of sprint s; null for a task that was removed from it. */
export const latest = `select distinct on (h.task_id) h.task_id, h.status, h.at from sprint_history h
  where h.sprint_id = s.id order by h.task_id, h.at desc, h.id desc`;

/** This many completed sprints, the latest, show the pace of a project. */
const informativeSprints = 6;

/**
 * SQL: the sprints that show the pace of sprint $1 of project $2: itself since its start, and sprints that were completed
 * before time $3.
 */
export const informative = `
  select id, started_at, ended_at from sprints where id = $1 and started_at is not null
  union all (
    select id, started_at, ended_at from sprints
    where project_id = $2 and id <> $1 and status = 'completed' and ended_at <= $3 and started_at is not null
    order by ended_at desc, id desc limit ${informativeSprints})`;

export const sprintColumns = `s.id, s.project_id as "projectId", s.name, s.goal, s.status,
  to_char(s.start_date, 'YYYY-MM-DD') as "startDay", to_char(s.end_date, 'YYYY-MM-DD') as "endDay",
  s.start_date::timestamp at time zone 'UTC' as "startDate", s.end_date::timestamp at time zone 'UTC' as "endDate",
  s.started_by as "startedBy", s.created_at as "createdAt", s.started_at as "startedAt", s.ended_at as "endedAt",
  (select count(*)::int from (${latest}) l where l.status is not null) as "taskCount",
  (select count(*)::int from (${latest}) l where l.status = 'done') as "completedCount"`;

export async function findSprint(em: EntityManager, id: string): Promise<SprintView | undefined> {
  const rows: SprintView[] = await em.query(`select ${sprintColumns} from sprints s where s.id = $1`, [id]);
  return rows[0];
}

export async function getSprint(em: EntityManager, id: string): Promise<SprintView> {
  const sprint = await findSprint(em, id);
  if (sprint === undefined) throw notFound('Sprint', id);
  return sprint;
}

export async function deleteSprintRow(em: EntityManager, id: string): Promise<void> {
  await em.query('delete from sprints where id = $1', [id]);
}

export async function listTasksWithIssue(em: EntityManager, sprintId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    'select id from tasks where sprint_id = $1 and issue_number is not null',
    [sprintId],
  );
  return rows.map((r) => r.id);
}

export interface LiveRun {
  taskId: string;
  runId: string;
}

/** Returns the live runs of tasks. */
export async function listLiveRuns(em: EntityManager, taskIds: string[]): Promise<LiveRun[]> {
  return em.query(
    `select task_id as "taskId", id as "runId" from runs where task_id = any($1) and status in ${liveRun}`,
    [taskIds],
  );
}

/**
 * Locks a sprint, so that nobody else can change it or add tasks to it, and returns it.
 * @throws AppError 404
 */
export async function lockSprint(em: EntityManager, id: string): Promise<SprintView> {
  await em.query('select 1 from sprints where id = $1 for no key update', [id]);
  return getSprint(em, id);
}

export async function findActiveSprint(em: EntityManager, projectId: string): Promise<SprintView | undefined> {
  const rows: SprintView[] = await em.query(
    `select ${sprintColumns} from sprints s where s.project_id = $1 and s.status = 'active'`,
    [projectId],
  );
  return rows[0];
}

export async function insertSprint(
  em: EntityManager,
  {
    id,
    projectId,
    name,
    goal,
    startDate,
    endDate,
  }: Record<'id' | 'projectId' | 'name' | 'goal' | 'startDate' | 'endDate', string>,
  directedBy: string[],
): Promise<void> {
  await em.query(
    `insert into sprints (id, project_id, name, goal, status, start_date, end_date, directed_by)
     values ($1, $2, $3, $4, 'planning', $5, $6, $7)`,
    [id, projectId, name, goal, startDate, endDate, JSON.stringify(directedBy)],
  );
}

/** Returns the people whose words the names and goals of sprints are. */
export async function findWriters(em: EntityManager, sprintIds: string[]): Promise<string[]> {
  const rows: { directedBy: string[] }[] = await em.query(
    'select directed_by as "directedBy" from sprints where id = any($1)',
    [sprintIds],
  );
  return [...new Set(rows.flatMap(({ directedBy }) => directedBy))];
}

export async function updateSprintRow(
  em: EntityManager,
  id: string,
  { name = null, goal = null, endDate = null }: Partial<Record<'name' | 'goal' | 'endDate', string | null | undefined>>,
  userId: string,
): Promise<void> {
  // Both texts are rarely new at once, so earlier writers stay.
  await em.query(
    `update sprints set name = coalesce($2, name), goal = coalesce($3, goal), end_date = coalesce($4, end_date),
       directed_by = case when coalesce($2, $3) is null or directed_by ? $5 then directed_by else directed_by || to_jsonb($5::text) end
     where id = $1`,
    [id, name, goal, endDate, userId],
  );
}

/** Sets the status with the time of the start or end. When a sprint ends, its history is frozen. */
export async function setSprintStatus(
  em: EntityManager,
  id: string,
  status: SprintStatus,
  startedBy: string | null = null,
): Promise<void> {
  await em.query(
    status === 'active'
      ? `update sprints set status = $2, started_at = clock_timestamp(), started_by = $3 where id = $1`
      : `update sprints set status = $2, ended_at = clock_timestamp(), started_by = coalesce($3, started_by) where id = $1`,
    [id, status, startedBy],
  );
}

/** Returns the sprints of a project in planning or active, newest first, and whether each has a task in the repository. */
export async function listOpenSprints(
  em: EntityManager,
  { projectId, id }: { projectId: string; id: string },
): Promise<{ id: string; name: string; hasRepository: boolean }[]> {
  return em.query(
    `select id, name, exists (
       select from tasks where tasks.sprint_id = sprints.id and tasks.repository_id = $2) as "hasRepository"
     from sprints where project_id = $1 and status in ('planning', 'active') order by created_at desc, id desc`,
    [projectId, id],
  );
}

/**
 * Returns the sprints of a project, newest first. Reads one row more than the limit, so that the caller can tell
 * whether there is another page.
 */
export async function listSprints(
  em: EntityManager,
  projectId: string,
  by: { status?: SprintStatus | undefined; limit: number; offset: number },
): Promise<Pick<SprintView, 'id' | 'name' | 'status' | 'goal'>[]> {
  return em.query(
    `select s.id, s.name, s.status, s.goal from sprints s
     where s.project_id = $1 and ($2::text is null or s.status = $2)
     order by s.created_at desc, s.id desc limit $3 offset $4`,
    [projectId, by.status ?? null, by.limit + 1, by.offset],
  );
}

/**
 * Returns the tasks of a sprint, or those of a project that are in no sprint. Newest first, one row more than the
 * limit.
 */
export async function listSprintTasks(
  em: EntityManager,
  where: { sprintId: string } | { backlogOf: string },
  by: { status?: TaskStatus | undefined; limit?: number | undefined; offset: number },
): Promise<TaskView[]> {
  const [condition, id] =
    'sprintId' in where
      ? ['t.sprint_id = $1', where.sprintId]
      : ['t.project_id = $1 and t.sprint_id is null and not t.hidden', where.backlogOf];
  return em.query(
    `select ${taskColumns} from (
       select * from tasks t where ${condition} and ($2::text is null or t.status = $2)
       order by t.created_at desc, t.id limit $3 offset $4) t
     order by t.created_at desc, t.id`,
    [id, by.status ?? null, by.limit === undefined ? null : by.limit + 1, by.offset],
  );
}

/** Returns the ids of the repositories in which the tasks of a sprint work. */
export async function listSprintRepositories(em: EntityManager, sprintId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    'select distinct repository_id as id from tasks where sprint_id = $1 and repository_id is not null order by 1',
    [sprintId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of a sprint's tasks that are not done. Locks all its tasks, subtasks first. Deleting a task locks in
 * the same order, so the two cannot deadlock.
 */
export async function lockUnfinished(em: EntityManager, sprintId: string): Promise<string[]> {
  const rows: { id: string; status: TaskStatus }[] = await em.query(
    `select id, status from tasks where sprint_id = $1 order by parent_id is null, id for no key update`,
    [sprintId],
  );
  return rows.filter((r) => r.status !== 'done').map((r) => r.id);
}

/**
 * Moves tasks with their subtasks into a sprint, or out of their sprints. A person who moves tasks directs them from now
 * on. Subtasks that come along, and tasks whose text that person has not seen, also follow the words of the people whose
 * words they followed before.
 * @throws Refused when the sprint would have more tasks than one may have
 */
export async function moveToSprint(
  em: EntityManager,
  taskIds: string[],
  sprintId: string | null,
  by: { userId: string; isTextSeen: boolean } | undefined = undefined,
): Promise<void> {
  await em.query(
    `update tasks set sprint_id = $2, updated_at = now(),
       directed_by = case when $3::text is null then directed_by
         when id = any($1) and $4::boolean then jsonb_build_array($3::text)
         when directed_by ? $3 then directed_by else directed_by || to_jsonb($3::text) end
     where (id = any($1) or parent_id = any($1)) and sprint_id is distinct from $2`,
    [taskIds, sprintId, by?.userId ?? null, by?.isTextSeen ?? false],
  );
  if (sprintId !== null) await assertSprintFits(em, sprintId);
}

/** Returns the given tasks of a project by id, with the facts that decide whether they can be added to a sprint. */
export async function tasksForSprint(em: EntityManager, projectId: string, ids: string[]) {
  const rows: { id: string; parentId: string | null; sprintId: string | null }[] = await em.query(
    // Locks the tasks with their subtasks, subtasks first, in the same order as deleting a task does.
    `select id, parent_id as "parentId", sprint_id as "sprintId" from tasks
     where project_id = $1 and (id = any($2) or parent_id = any($2)) and not hidden
     order by parent_id is null, id for no key update`,
    [projectId, ids],
  );
  return new Map(rows.filter((r) => ids.includes(r.id)).map((r) => [r.id, r]));
}

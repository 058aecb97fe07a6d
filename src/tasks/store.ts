import type { EntityManager } from 'typeorm';
import { lockUntilCommit } from '../db/locks.ts';
import { liveRun } from '../db/tables/run.ts';
import { type KnownTaskRow, type TaskRow, Tasks } from '../db/tables/task.ts';
import { Refused } from '../domain/machine.ts';
import type { SprintStatus } from '../domain/sprint.ts';
import { maxSubtasks, type TaskFacts, type TaskStatus, taskStatuses } from '../domain/task.ts';
import type { Attention } from '../domain/waiting.ts';
import { notFound } from '../errors.ts';
import { ghost } from '../projects/store.ts';

/** A task as the service reads it. The API shows what `Task` in schemas.ts names. */
export interface TaskView extends KnownTaskRow {
  /** What the task's issue says, if that differs from the task. */
  issueText: { title: string; description: string } | null;
  editedSinceFailure: boolean | null;
  /** What its run waits for; null when it does not wait. */
  attention: Attention | null;
  dependsOn: string[];
  prUrl: string | null;
  runCount: number;
  /** What GitHub does to merge its pull requests when they are ready; null when it does nothing. */
  merging: { state: 'waiting' | 'queued'; since: string; reason: string } | null;
}

export const taskColumns = `t.id, t.project_id as "projectId", t.title, t.description, t.status, t.priority, t.owner,
  t.repository_id as "repositoryId", t.parent_id as "parentId", t.sprint_id as "sprintId", t.split_by_agent as "splitByAgent", t.branch_name as "branchName", t.base,
  t.issue_repository_id as "issueRepositoryId", t.issue_number as "issueNumber", t.issue_url as "issueUrl", t.issue_type as "issueType", t.issue_assignees as "issueAssignees", t.wants_issue as "wantsIssue", t.plan_first as "planFirst", t.hidden, t.undo_of as "undoOf", t.responsible, t.failure, t.budget,
  t.status_since as "statusSince",
  t.done_at as "doneAt", t.created_by as "createdBy", t.directed_by as "directedBy", t.created_at as "createdAt", t.updated_at as "updatedAt",
  case when t.issue_number is not null and (t.issue_title <> t.title or t.issue_body <> t.description)
    then json_build_object('title', t.issue_title, 'description', t.issue_body) end as "issueText",
  case when t.failure is not null and t.edited_at > t.status_since then true end as "editedSinceFailure",
  array(select d.depends_on_id from task_dependencies d where d.task_id = t.id order by 1) as "dependsOn",
  (select p.url from pull_requests p where p.task_id = t.id and p.repository_id = t.repository_id
    order by p.created_at desc, p.number desc limit 1) as "prUrl",
  (select count(*)::int from runs r where r.task_id = t.id) as "runCount",
  (select json_build_object('id', r.wait_id, 'reason', r.wait_reason, 'text', r.wait_text, 'options', r.wait_options,
      'since', to_char(r.waiting_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from runs r where r.task_id = t.id and r.status = 'waiting') as attention,
  (select json_build_object('state', m.state, 'reason', m.reason,
      'since', to_char(m.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from pull_requests p join merges m on m.repository_id = p.repository_id and m.number = p.number
    where p.task_id = t.id and m.state is not null order by m.state desc, m.since limit 1) as merging`;

export async function findTask(em: EntityManager, id: string): Promise<TaskView | undefined> {
  const rows: TaskView[] = await em.query(`select ${taskColumns} from tasks t where t.id = $1`, [id]);
  return rows[0];
}

/**
 * Finds a task.
 * @throws AppError 404
 */
export async function getTask(em: EntityManager, id: string): Promise<TaskView> {
  const task = await findTask(em, id);
  if (task === undefined) throw notFound('Task', id);
  return task;
}

/** Returns tasks in the order of the given ids. Unknown ids are left out. */
export async function getTasks(em: EntityManager, ids: string[]): Promise<TaskView[]> {
  return em.query(`select ${taskColumns} from tasks t where t.id = any($1) order by array_position($1, t.id)`, [ids]);
}

/** Returns the title and the description of a task as people wrote them; nothing if the model of an agent wrote them. */
export function textOfPeople({
  title,
  description,
  parentId,
  createdBy,
}: Pick<TaskView, 'title' | 'description' | 'parentId' | 'createdBy'>): string {
  // A subtask that an agent made has no creator.
  return parentId !== null && createdBy === null ? '' : `${title}\n${description}`;
}

export interface TaskPage {
  status?: TaskStatus | undefined;
  owner?: string | undefined;
  responsible?: string | undefined;
  sprintId?: string | undefined;
  limit: number;
  offset: number;
}

/** SQL: the order of lists. Tasks that were created together are in the order in which they were given, that of their ids. */
export const newestFirst = 'order by t.created_at desc, t.id';

/** Adds a value to those of a statement, and returns its parameter. */
export type Bind = (value: unknown) => string;

/** Returns an SQL condition for the tasks of a project that meet a filter. */
export function filtered(projectId: string, by: TaskPage, bind: Bind): string {
  const where = [`t.project_id = ${bind(projectId)}`, 'not t.hidden'];
  if (by.status !== undefined) where.push(`t.status = ${bind(by.status)}`);
  if (by.owner !== undefined) where.push(`t.owner = ${bind(by.owner)}`);
  if (by.responsible !== undefined) where.push(`t.responsible = ${bind(by.responsible)}`);
  if (by.sprintId !== undefined) where.push(`t.sprint_id = ${bind(by.sprintId)}`);
  return where.join(' and ');
}

/**
 * Returns the tasks of a project, newest first. Reads one row more than the limit, so that the caller can tell whether
 * there is another page.
 */
export async function listTasks(em: EntityManager, projectId: string, by: TaskPage): Promise<TaskView[]> {
  const values: unknown[] = [by.limit + 1, by.offset];
  const where = filtered(projectId, by, (value) => `$${values.push(value)}`);
  // Selects the page first, so that dependencies, pull requests and runs are looked up for its tasks only.
  return em.query(
    `select ${taskColumns} from (select * from tasks t where ${where} ${newestFirst} limit $1 offset $2) t ${newestFirst}`,
    values,
  );
}

export async function countByStatus(em: EntityManager, projectId: string) {
  const rows: { status: TaskStatus; count: number }[] = await em.query(
    'select status, tasks as count from task_counts where project_id = $1',
    [projectId],
  );
  const counted = new Map(rows.map((r) => [r.status, r.count]));
  const byStatus = Object.fromEntries(taskStatuses.map((s) => [s, counted.get(s) ?? 0])) as Record<TaskStatus, number>;
  return { total: rows.reduce((sum, r) => sum + r.count, 0), byStatus };
}

/** Returns the subtasks of a task, oldest first. */
export async function listSubtasks(
  em: EntityManager,
  parentId: string,
  { limit = maxSubtasks, offset }: { limit?: number | undefined; offset: number },
): Promise<TaskView[]> {
  // Selects the page first. A task from before the limit of subtasks may have thousands.
  return em.query(
    `select ${taskColumns} from (select * from tasks t where t.parent_id = $1 order by t.created_at, t.id limit $2 offset $3) t
     order by t.created_at, t.id`,
    [parentId, limit + 1, offset],
  );
}

/** What the status comment of a task says about a subtask. */
export interface ShownSubtask {
  id: string;
  title: string;
  status: TaskStatus;
  issueUrl: string | null;
  repositoryId: string | null;
}

/** Returns the oldest subtasks of a task, as many as one may have, without their descriptions. */
export async function listShownSubtasks(em: EntityManager, parentId: string): Promise<ShownSubtask[]> {
  return em.query(
    `select t.id, t.title, t.status, t.issue_url as "issueUrl", t.repository_id as "repositoryId" from tasks t
     where t.parent_id = $1 order by t.created_at, t.id limit $2`,
    [parentId, maxSubtasks],
  );
}

export async function countSubtasks(em: EntityManager, parentId: string): Promise<number> {
  const [row]: [{ count: number }] = await em.query('select count(*)::int as count from tasks where parent_id = $1', [
    parentId,
  ]);
  return row.count;
}

/** Locks the dependencies of a project, because two simultaneous changes could together close a cycle. */
export async function lockDependencies(em: EntityManager, projectId: string): Promise<void> {
  await lockUntilCommit(em, 'dependencies', projectId);
}

/** Returns the given tasks and all that they wait for, directly or indirectly. A parent waits for its subtasks. */
export async function reachableFrom(em: EntityManager, ids: string[]): Promise<Set<string>> {
  const rows: { id: string }[] = await em.query(
    `with recursive reached (id) as (
       select unnest($1::text[])
       union
       select next.id from reached r join lateral (
         select d.depends_on_id as id from task_dependencies d where d.task_id = r.id
         union all
         select s.id from tasks s where s.parent_id = r.id) next on true)
     select id from reached`,
    [ids],
  );
  return new Set(rows.map((r) => r.id));
}

export async function replaceDependencies(em: EntityManager, taskId: string, dependsOn: string[]): Promise<void> {
  await em.query('delete from task_dependencies where task_id = $1', [taskId]);
  await insertDependencies(em, taskId, dependsOn);
}

/** Locks the task's row until the transaction ends. */
export async function lockTask(em: EntityManager, taskId: string): Promise<void> {
  await em.query('select 1 from tasks where id = $1 for no key update', [taskId]);
}

/** Changes fields that no rule depends on. The status is changed only by `swapStatus`. */
export async function setTaskFields(
  em: EntityManager,
  id: string,
  fields: Partial<
    Pick<
      TaskRow,
      'owner' | 'repositoryId' | 'branchName' | 'splitByAgent' | 'planFirst' | 'failure' | 'title' | 'base' | 'budget'
    >
  >,
): Promise<void> {
  await em.update(Tasks, { id }, fields);
}

/** Returns whether a task, or a run of it, follows words of unknown people, which an automation took from its repository. */
export async function followsUnknown(em: EntityManager, taskId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from users u where u.github_id = $2 and (
       exists (select 1 from tasks where id = $1 and directed_by ? u.id)
       or exists (select 1 from runs where task_id = $1 and directed_by ? u.id))`,
    [taskId, ghost.id],
  );
  return rows.length > 0;
}

/**
 * Makes the person who starts a task responsible for it, unless somebody chose another one. Nothing changes if they are no
 * member of its project. Returns who is responsible.
 */
export async function takeResponsibility(em: EntityManager, taskId: string, userId: string): Promise<string | null> {
  // The lock keeps them from leaving the project, or becoming a viewer, before the task names them.
  const [rows]: [{ responsible: string | null }[], number] = await em.query(
    `update tasks t set responsible_chosen = t.responsible_chosen and t.responsible is not null,
       responsible = case when t.responsible_chosen and t.responsible is not null then t.responsible else coalesce((
         select m.user_id from members m where m.project_id = t.project_id and m.user_id = $2 and m.role <> 'viewer' for share),
         t.responsible) end
     where t.id = $1 returning responsible`,
    [taskId, userId],
  );
  return rows[0]?.responsible ?? null;
}

/** Locks the live run of a task until the transaction ends. To prevent deadlocks, call this before `lockTask`. */
export async function lockLiveRun(em: EntityManager, taskId: string): Promise<void> {
  await em.query(`select 1 from runs where task_id = $1 and status in ${liveRun} for update`, [taskId]);
}

/**
 * Notes that a task says what a person wrote: their rights count in runs that nobody started, and in a live run whose
 * agent has not read the task yet.
 */
export async function addTaskDirector(em: EntityManager, taskId: string, userId: string): Promise<void> {
  const directed = `directed_by = case when directed_by ? $2 then directed_by else directed_by || to_jsonb($2::text) end`;
  await em.query(`update tasks set ${directed}, rewritten_at = clock_timestamp(), rewritten_by = $2 where id = $1`, [
    taskId,
    userId,
  ]);
  // A run that takes up a conversation holds this lock. The next statement sees what it copied.
  await lockLiveRun(em, taskId);
  await em.query(
    `update runs r set ${directed} where r.task_id = $1 and r.status in ${liveRun}
       and not exists (select 1 from run_contexts c where c.run_id = r.id)`,
    [taskId, userId],
  );
}

/** Returns who rewrote a task last, and when; undefined if nobody has. */
export async function findRewriting(
  em: EntityManager,
  taskId: string,
): Promise<{ userId: string; at: Date } | undefined> {
  const rows: { userId: string; at: Date }[] = await em.query(
    `select rewritten_by as "userId", rewritten_at as at from tasks where id = $1 and rewritten_by is not null and rewritten_at is not null`,
    [taskId],
  );
  return rows[0];
}

/** Marks a task as changed because of something outside its row, such as a run that began to wait. */
export async function touchTask(em: EntityManager, id: string): Promise<void> {
  await em.query('update tasks set updated_at = now() where id = $1', [id]);
}

/** Returns whether the task has a live run. */
export async function hasLiveRun(em: EntityManager, taskId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(`select 1 from runs where task_id = $1 and status in ${liveRun}`, [taskId]);
  return rows.length > 0;
}

/** Returns whether the task or one of its subtasks has a live run. */
export async function hasLiveRunBelow(em: EntityManager, taskId: string): Promise<boolean> {
  const [row]: [{ live: boolean }] = await em.query(
    `select exists (select 1 from runs r join tasks t on t.id = r.task_id
       where (t.id = $1 or t.parent_id = $1) and r.status in ${liveRun}) as live`,
    [taskId],
  );
  return row.live;
}

/** Returns those of the given ids that are tasks of the project. */
export async function tasksAmong(em: EntityManager, projectId: string, ids: string[]): Promise<Set<string>> {
  const rows: { id: string }[] = await em.query(
    'select id from tasks where project_id = $1 and id = any($2) and not hidden',
    [projectId, ids],
  );
  return new Set(rows.map((r) => r.id));
}

/** Returns whether the project has an active sprint. Only in one can a change of one task start another task. */
export async function hasActiveSprint(em: EntityManager, projectId: string): Promise<boolean> {
  return (
    (await em.query<unknown[]>(`select 1 from sprints where project_id = $1 and status = 'active'`, [projectId]))
      .length > 0
  );
}

/**
 * Locks a sprint, so that it cannot end while a task joins it. Returns its status; undefined when the project has no
 * sprint with this id.
 */
export async function lockSprintForTask(em: EntityManager, projectId: string, sprintId: string) {
  const rows: { status: SprintStatus }[] = await em.query(
    'select status from sprints where id = $1 and project_id = $2 for share',
    [sprintId, projectId],
  );
  return rows[0]?.status;
}

/** The most tasks of a sprint, subtasks included: a start, an end and a report are about all of them at once. */
const maxSprintTasks = 2000;

async function countInSprint(em: EntityManager, sprintId: string): Promise<number> {
  const [{ count }]: [{ count: number }] = await em.query(
    'select count(*)::int as count from tasks where sprint_id = $1',
    [sprintId],
  );
  return count;
}

/** Returns whether a sprint may have some more tasks. */
export async function fitsSprint(em: EntityManager, sprintId: string, more: number): Promise<boolean> {
  return (await countInSprint(em, sprintId)) + more <= maxSprintTasks;
}

/** @throws Refused when a sprint has more tasks than one may have, once tasks were added to it */
export async function assertSprintFits(em: EntityManager, sprintId: string): Promise<void> {
  const count = await countInSprint(em, sprintId);
  if (count > maxSprintTasks)
    throw new Refused(`A sprint has at most ${maxSprintTasks} tasks, and this one would have ${count}.`);
}

export async function insertDependencies(em: EntityManager, taskId: string, dependsOn: string[]): Promise<void> {
  await em.query('insert into task_dependencies (task_id, depends_on_id) select $1, unnest($2::text[])', [
    taskId,
    dependsOn,
  ]);
}

interface FactRow extends TaskFacts {
  projectId: string;
  status: TaskStatus;
  parentId: string | null;
  hidden: boolean;
}

/** Locks the task's row. Returns the task's status and the facts that its state machine needs. */
export async function lockFacts(em: EntityManager, taskId: string, githubUrl: string): Promise<FactRow | undefined> {
  await lockTask(em, taskId);
  const rows: FactRow[] = await em.query(
    `select t.project_id as "projectId", t.status, t.owner, t.parent_id is not null as "isSubtask",
       exists (select 1 from agents a left join members m on m.project_id = t.project_id and m.user_id = a.creator_id and m.role <> 'viewer'
         where a.id = t.owner and (a.project_id = t.project_id or m.user_id is not null)) as "ownerMayWork",
       array(select d.depends_on_id from task_dependencies d join tasks o on o.id = d.depends_on_id
         where d.task_id = t.id and o.status <> 'done' order by 1) as "openDependencies",
       exists (select 1 from repositories r where r.project_id = t.project_id and starts_with(lower(r.url), lower($2) || '/')
         and substr(r.url, length($2) + 2) ~ '^[A-Za-z0-9_-]+/[A-Za-z0-9._-]+$'
         and (r.id = t.repository_id or t.repository_id is null and r.is_primary)) as "repositoryOnGitHub",
       (select r.status from runs r where r.task_id = t.id order by r.created_at desc, r.id desc limit 1) as "latestRun",
       exists (select 1 from runs r where r.task_id = t.id and r.status in ${liveRun}) as "liveRun",
       (select count(*)::int from pull_requests p where p.task_id = t.id and p.status in ('open', 'draft')) as "openPullRequests",
       (select count(*)::int from pull_requests p where p.task_id = t.id and p.status = 'merged' and p.counts) as "mergedPullRequests",
       (select count(*)::int from tasks s where s.parent_id = t.id) as subtasks,
       (select count(*)::int from tasks s where s.parent_id = t.id and s.status <> 'done') as "openSubtasks",
       t.hidden, t.split_by_agent as "splitByAgent", false as "finishedUnchanged", t.parent_id as "parentId"
     from tasks t where t.id = $1`,
    [taskId, githubUrl],
  );
  return rows[0];
}

/** Changes the status by compare-and-swap. Returns false when the status is no longer `from`. */
export async function swapStatus(
  em: EntityManager,
  taskId: string,
  from: TaskStatus,
  to: TaskStatus,
  failure: object | null,
) {
  const [, changed]: [unknown, number] = await em.query(
    `update tasks set status = $3, failure = $4, updated_at = now(), status_since = now(), done_at = case when $3 = 'done' then now() end
     where id = $1 and status = $2`,
    [taskId, from, to, failure],
  );
  return changed === 1;
}

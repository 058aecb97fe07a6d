import type { EntityManager } from 'typeorm';
import type { TaskStatus } from '../../domain/task.ts';
import { namedPaths } from '../../domain/text/named-paths.ts';
import { storableJson, storableText } from '../../domain/text/sanitize.ts';

/** A pull request of a connected repository. */
interface PullKey {
  repositoryId: string;
  number: number;
}

/** An open pull request that was tried together with others. */
export interface TriedPull {
  number: number;
  /** Null for a pull request that is not of a task. */
  taskId: string | null;
  headSha: string;
  headBranch: string;
  baseBranch: string;
  url: string;
  title: string;
  author: string | null;
}

/** An open pull request of a task. `paths` are the files that it changes; null if they are not known. */
export interface OwnPull extends TriedPull {
  taskId: string;
  paths: string[] | null;
}

/** Two pull requests that git cannot merge together. */
export interface Collision {
  other: TriedPull;
  files: string[];
}

const ownColumns = `p.number, p.task_id as "taskId", p.head_sha as "headSha", p.head_branch as "headBranch",
  coalesce(p.base_branch, o.default_branch) as "baseBranch", p.url, t.title, null as author,
  (select d.paths from diffs d
   where d.task_id = p.task_id and p.repository_id = t.repository_id and d.head_sha = p.head_sha and not d.truncated) as paths
  from pull_requests p join tasks t on t.id = p.task_id join repositories o on o.id = p.repository_id`;

/** Returns an open pull request of a task; undefined if it is none, or settled. */
export async function findOwnPull(em: EntityManager, { repositoryId, number }: PullKey): Promise<OwnPull | undefined> {
  const rows: OwnPull[] = await em.query(
    `select ${ownColumns} where p.repository_id = $1 and p.number = $2 and p.status in ('open', 'draft')`,
    [repositoryId, number],
  );
  return rows[0];
}

/** Returns whether a pull request is one of a task, also if it is settled. */
export async function isOfTask(em: EntityManager, { repositoryId, number }: PullKey): Promise<boolean> {
  const rows: unknown[] = await em.query('select from pull_requests where repository_id = $1 and number = $2 limit 1', [
    repositoryId,
    number,
  ]);
  return rows.length > 0;
}

/** Returns the open pull requests of tasks in a repository, those that changed last first. */
export async function listOwnPulls(em: EntityManager, repositoryId: string, limit: number): Promise<OwnPull[]> {
  return em.query(
    `select ${ownColumns} where p.repository_id = $1 and p.status in ('open', 'draft')
     order by p.head_since desc, p.number desc limit $2`,
    [repositoryId, limit],
  );
}

/** Returns whether a repository has an open pull request of a task. */
export async function hasOwnPulls(em: EntityManager, repositoryId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from pull_requests where repository_id = $1 and status in ('open', 'draft') limit 1`,
    [repositoryId],
  );
  return rows.length > 0;
}

/** Removes what is known about collisions of a pull request, because it was merged, closed or pushed. */
export async function deleteCollisions(em: EntityManager, { repositoryId, number }: PullKey): Promise<void> {
  // In one order, so that two pushes at the same time do not wait for each other.
  await em.query(
    `delete from collisions where (repository_id, number, other_number) in (
       select repository_id, number, other_number from collisions
       where repository_id = $1 and (number = $2 or other_number = $2) order by 1, 2, 3 for update)`,
    [repositoryId, number],
  );
}

/**
 * Waits for transactions that settle one of these pull requests, and lets none begin until the end of this one. Call it before
 * anything about collisions is changed, because those transactions lock the pull request first, too.
 */
export async function holdPulls(em: EntityManager, repositoryId: string, numbers: number[]): Promise<void> {
  await em.query(
    'select 1 from pull_requests where repository_id = $1 and number = any($2) order by number for key share',
    [repositoryId, numbers],
  );
}

/** Returns the numbers of pull requests that are not of tasks, with which one of a task collides. */
export async function listForeignNumbers(em: EntityManager, repositoryId: string, limit: number): Promise<number[]> {
  const rows: { number: number }[] = await em.query(
    `select distinct other_number as number from collisions where repository_id = $1 and other_task_id is null
     order by 1 limit $2`,
    [repositoryId, limit],
  );
  return rows.map(({ number }) => number);
}

/** More files with conflicts than this are not stored. */
const maxFiles = 100;

/**
 * Stores that the pull request of a task collides with another one, if its head is still the one that was tried. The caller
 * stores it for the other one, too, if that is of a task.
 */
export async function insertCollision(
  em: EntityManager,
  repositoryId: string,
  own: Pick<TriedPull, 'number' | 'headSha'>,
  { other, files }: Collision,
): Promise<void> {
  await em.query(
    `insert into collisions (repository_id, number, task_id, head_sha, other_number, other_task_id,
       other_own_number, other_url, other_title, other_author, other_head_sha, files)
     select $1, p.number, p.task_id, p.head_sha, $4, $5, case when $5::text is not null then $4::int end, $6, $7, $8, $9, $10::jsonb from pull_requests p
     where p.repository_id = $1 and p.number = $2 and p.head_sha = $3 and p.status in ('open', 'draft')
       and ($5::text is null or exists (select from pull_requests q where q.repository_id = $1 and q.number = $4
         and q.head_sha = $9 and q.status in ('open', 'draft')))
     on conflict (repository_id, number, other_number) do nothing`,
    [
      ...[repositoryId, own.number, own.headSha, other.number, other.taskId, storableText(other.url)],
      ...[storableText(other.title).slice(0, 300), other.author, other.headSha, storableJson(files.slice(0, maxFiles))],
    ],
  );
}

/** A collision of a task's pull request, as people see it. */
export interface ShownCollision {
  repositoryId: string;
  repositoryName: string;
  prNumber: number;
  otherTaskId: string | null;
  otherNumber: number;
  otherUrl: string;
  otherTitle: string;
  otherAuthor: string | null;
  files: string[];
  at: Date;
}

/** At most this many collisions of a task are shown, and tasks that will probably touch the same files. */
export const maxShown = 100;

/** Returns the collisions of a task, newest first. */
export async function listCollisions(em: EntityManager, taskId: string): Promise<ShownCollision[]> {
  return em.query(
    `select c.repository_id as "repositoryId", o.name as "repositoryName", c.number as "prNumber",
       c.other_task_id as "otherTaskId", c.other_number as "otherNumber", c.other_url as "otherUrl",
       c.other_title as "otherTitle", c.other_author as "otherAuthor", c.files, c.at
     from collisions c join repositories o on o.id = c.repository_id
     where c.task_id = $1 order by c.at desc, c.other_number limit ${maxShown}`,
    [taskId],
  );
}

/** A task with the files that it changes, or will probably change. */
export interface TaskFiles {
  id: string;
  title: string;
  status: TaskStatus;
  repositoryId: string | null;
  files: string[];
}

interface FilesRow extends Omit<TaskFiles, 'files'> {
  description: string;
  /** The files of its newest plan. */
  planned: string[] | null;
  /** The files of its change. */
  changed: string[] | null;
}

const filesColumns = `t.id, t.title, t.status, t.repository_id as "repositoryId", left(t.description, 20000) as description,
  (select p.files from plans p where p.task_id = t.id order by p.at desc limit 1) as planned,
  (select d.paths from diffs d where d.task_id = t.id) as changed`;

/** A change says best what it touches, then the plan of the agent, then the text of the task. */
function filesOf({ planned, changed, title, description }: FilesRow): string[] {
  return changed ?? planned ?? namedPaths(`${title}\n${description}`);
}

function withFiles(row: FilesRow): TaskFiles {
  const { description: _description, planned: _planned, changed: _changed, ...task } = row;
  return { ...task, files: filesOf(row) };
}

/** Returns the files of these tasks, in the order of their ids. */
export async function listFilesOf(em: EntityManager, ids: string[]): Promise<TaskFiles[]> {
  const rows: FilesRow[] = await em.query(
    `select ${filesColumns} from unnest($1::text[]) with ordinality w (id, place) join tasks t on t.id = w.id order by w.place`,
    [ids],
  );
  return rows.map(withFiles);
}

/** Tasks in progress that are looked at. */
const maxBusy = 50;

/**
 * Returns the files of the tasks of a project that are in progress or in review, the latest first. `repositoryId` leaves out
 * those of other repositories.
 */
export async function listBusyFiles(
  em: EntityManager,
  projectId: string,
  repositoryId: string | null,
): Promise<TaskFiles[]> {
  const rows: FilesRow[] = await em.query(
    `select ${filesColumns} from (
       select * from tasks t where t.project_id = $1 and not t.hidden and t.status in ('in_progress', 'in_review')
         and ($2::text is null or t.repository_id = $2)
       order by t.status_since desc, t.id limit ${maxBusy}) t
     order by t.status_since desc, t.id`,
    [projectId, repositoryId],
  );
  return rows.map(withFiles);
}

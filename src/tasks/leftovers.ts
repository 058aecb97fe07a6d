import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';

/** What a deleted task leaves on GitHub: an issue or pull request, or a branch alone, whose number is then 0. */
export interface Leftover {
  taskId: string;
  repositoryId: string;
  number: number;
  /** The branch of the pull request; null for an issue. */
  branch: string | null;
  /** Our status comment and milestone, as far as they are known. */
  commentId: number | null;
  milestone: number | null;
}

/**
 * Locks a task and its subtasks for deletion, subtasks first. A subtask that becomes done also locks its own row before
 * its parent's, so the other order would deadlock.
 */
export async function lockForDeletion(em: EntityManager, taskId: string): Promise<void> {
  const family = 'select 1 from tasks where id = $1 or parent_id = $1';
  await em.query(`${family} order by parent_id is null, id for update`, [taskId]);
}

/**
 * Notes what a task and its subtasks show on GitHub, and queues the jobs that remove it. Call it in the transaction that
 * deletes the task, so that neither happens without the other.
 */
export async function noteLeftovers(app: App, em: EntityManager, taskId: string): Promise<void> {
  const rows: Pick<Leftover, 'taskId' | 'repositoryId' | 'number'>[] = await em.query(
    `with family as (select * from tasks where id = $1 or parent_id = $1),
     places as (
       select p.task_id, p.repository_id, p.number, p.head_branch as branch
       from pull_requests p join family t on t.id = p.task_id
       union all
       select id, issue_repository_id, issue_number, null from family
       where issue_number is not null and issue_repository_id is not null
       union all
       select t.id, t.repository_id, 0, t.branch_name from family t
       where t.branch_name is not null and t.repository_id is not null and not exists (
         select 1 from pull_requests p where p.task_id = t.id and p.repository_id = t.repository_id
           and p.head_branch = t.branch_name))
     insert into leftovers (task_id, repository_id, number, branch, comment_id, milestone)
     select p.task_id, p.repository_id, p.number, p.branch, m.comment_id, m.milestone
     from places p left join mirrored m on m.repository_id = p.repository_id and m.number = p.number
     returning task_id as "taskId", repository_id as "repositoryId", number`,
    [taskId],
  );
  for (const row of rows) await queueTidying(app, em, row);
}

/** Queues the job that removes a leftover. */
export async function queueTidying(
  app: App,
  em: EntityManager | undefined,
  { taskId, repositoryId, number }: Pick<Leftover, 'taskId' | 'repositoryId' | 'number'>,
): Promise<void> {
  const key = `${taskId} ${repositoryId} ${number}`;
  await app.queue.send(em, 'tidy', { taskId, repositoryId, number }, { key });
}

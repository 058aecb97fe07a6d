import type { EntityManager } from 'typeorm';
import type { TaskStatus } from '../../domain/task.ts';

/** A merged pull request that a task reverts. */
export interface UndonePull {
  repositoryId: string;
  number: number;
  url: string;
  /** The branch into which it was merged. */
  base: string;
}

/** Stores what a task reverts, the pull request that was merged last first. */
export async function insertUndone(em: EntityManager, taskId: string, pulls: UndonePull[]): Promise<void> {
  for (const [place, { repositoryId, number, url, base }] of pulls.entries())
    await em.query(
      'insert into undone_pulls (task_id, place, repository_id, number, url, base) values ($1, $2, $3, $4, $5, $6)',
      [taskId, place, repositoryId, number, url, base],
    );
}

/** Returns what a task reverts, the pull request that was merged last first; nothing for every other task. */
export async function listUndone(em: EntityManager, taskId: string): Promise<UndonePull[]> {
  return em.query(
    'select repository_id as "repositoryId", number, url, base from undone_pulls where task_id = $1 order by place',
    [taskId],
  );
}

/** SQL: the undo `t` of a task holds: no undo of it was merged in its turn. */
const holds = `not exists (select 1 from tasks n where n.undo_of = t.id and n.status = 'done')`;

export interface MergedPull extends UndonePull {
  repositoryName: string;
  mergedAt: Date | null;
  /** The task that has reverted it; null while none has. */
  undoneBy: string | null;
}

/** Returns the merged pull requests of a task, the one that was merged last first. */
export async function listMerged(em: EntityManager, taskId: string): Promise<MergedPull[]> {
  return em.query(
    `select p.repository_id as "repositoryId", p.number, p.url, r.name as "repositoryName",
       coalesce(p.merged_elsewhere, p.base_branch, r.default_branch) as base /* not null */, p.merged_at as "mergedAt",
       (select t.id from tasks t join undone_pulls u on u.task_id = t.id
        where t.undo_of = $1 and t.status = 'done' and u.repository_id = p.repository_id and u.number = p.number and ${holds}
        order by t.created_at desc limit 1) as "undoneBy"
     from pull_requests p join repositories r on r.id = p.repository_id
     where p.task_id = $1 and p.status = 'merged'
     order by p.merged_at desc nulls last, p.created_at desc, p.number desc`,
    [taskId],
  );
}

/** An undo of a task. */
export interface UndoTask {
  id: string;
  status: TaskStatus;
}

/**
 * Returns the undo of a task that is not over: a run works on it, or its pull requests are open. One that failed or was cancelled
 * does not count.
 */
export async function findLiveUndo(em: EntityManager, taskId: string): Promise<UndoTask | undefined> {
  const rows: UndoTask[] = await em.query(
    `select t.id, t.status from tasks t where t.undo_of = $1 and t.status <> 'done'
       and (t.status in ('in_progress', 'in_review', 'waiting_on_subtasks')
         or exists (select 1 from pull_requests p where p.task_id = t.id and p.status in ('open', 'draft')))
     order by t.created_at desc limit 1`,
    [taskId],
  );
  return rows[0];
}

/** Returns the latest task with which a person has undone another task since a point in time; undefined if there is none. */
export async function findUndoBy(
  em: EntityManager,
  taskId: string,
  { userId, since }: { userId: string; since: Date },
): Promise<{ id: string; title: string } | undefined> {
  const rows: { id: string; title: string }[] = await em.query(
    `select t.id, t.title from tasks t where t.undo_of = $1 and t.created_by = $2 and t.created_at >= $3
     order by t.created_at desc limit 1`,
    [taskId, userId, since],
  );
  return rows[0];
}

/** Returns the latest turn of a task's runs to which one can go back, and its run; undefined if there is none. */
export async function findLastTurn(
  em: EntityManager,
  taskId: string,
): Promise<{ runId: string; turn: number } | undefined> {
  const rows: { runId: string; turn: number }[] = await em.query(
    `select r.id as "runId", (max(t.turn) + 1)::int as turn /* not null */
     from runs r join run_turns t on t.run_id = r.id
     where r.task_id = $1 and exists (select 1 from run_contexts c where c.run_id = r.id)
     group by r.id, r.created_at order by r.created_at desc, r.id desc limit 1`,
    [taskId],
  );
  return rows[0];
}

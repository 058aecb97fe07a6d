import type { EntityManager } from 'typeorm';

/** One issue or pull request that shows a task. */
export interface Mirrored {
  taskId: string;
  repositoryId: string;
  number: number;
  commentId: number | null;
  shown: string | null;
  /** A digest of all that is shown, steps and costs included. */
  shownProgress: string | null;
  shownAt: Date | null;
  notice: string;
  checkRunId: number | null;
  checkSha: string | null;
  checkShown: string | null;
  trippedUntil: Date | null;
  /** The milestone that we put on last. */
  milestone: number | null;
}

/** Where a task is to be seen: its issue and its pull requests, rows made as needed; the issue first. */
export async function listMirrored(em: EntityManager, taskId: string): Promise<Mirrored[]> {
  await em.query(
    `insert into mirrored (task_id, repository_id, number)
       select id, issue_repository_id, issue_number from tasks where id = $1 and issue_number is not null
         and issue_repository_id is not null
       union select task_id, repository_id, number from pull_requests where task_id = $1
     on conflict do nothing`,
    [taskId],
  );
  return em.query(
    `select task_id as "taskId", repository_id as "repositoryId", number, comment_id::float8 as "commentId", shown,
       shown_progress as "shownProgress", shown_at as "shownAt", notice, check_run_id::float8 as "checkRunId", check_sha as "checkSha",
       check_shown as "checkShown", tripped_until as "trippedUntil", milestone
     from mirrored where task_id = $1 order by number`,
    [taskId],
  );
}

export async function markShown(
  em: EntityManager,
  place: Mirrored,
  shown: { commentId: number | null; shown: string; progress: string },
) {
  await em.query(
    `update mirrored set comment_id = $3, shown = $4, shown_progress = $5, shown_at = now()
     where repository_id = $1 and number = $2`,
    [place.repositoryId, place.number, shown.commentId, shown.shown, shown.progress],
  );
}

export async function markCheck(em: EntityManager, place: Mirrored, check: { id: number; sha: string; shown: string }) {
  await em.query(
    `update mirrored set check_run_id = $3, check_sha = $4, check_shown = $5 where repository_id = $1 and number = $2`,
    [place.repositoryId, place.number, check.id, check.sha, check.shown],
  );
}

/** Notes that we made a comment or changed a label there; answers how many of those the last ten minutes had. */
export async function countWrite(em: EntityManager, place: Mirrored): Promise<number> {
  await em.query(`delete from mirror_writes where at < now() - interval '10 minutes' and repository_id = $1`, [
    place.repositoryId,
  ]);
  await em.query('insert into mirror_writes (repository_id, number) values ($1, $2)', [
    place.repositoryId,
    place.number,
  ]);
  const [row] = await em.query(
    'select count(*)::int as count from mirror_writes where repository_id = $1 and number = $2',
    [place.repositoryId, place.number],
  );
  return row.count;
}

export async function tripBreaker(em: EntityManager, place: Mirrored): Promise<void> {
  await em.query(
    `update mirrored set tripped_until = now() + interval '10 minutes' where repository_id = $1 and number = $2`,
    [place.repositoryId, place.number],
  );
}

/** What the comment on an issue should say of the newest refused command; empty when the newest was obeyed. */
export async function setNotice(
  em: EntityManager,
  taskId: string,
  repositoryId: string,
  number: number,
  notice: string,
) {
  await em.query(
    `insert into mirrored (task_id, repository_id, number, notice) values ($1, $2, $3, $4)
     on conflict (repository_id, number) do update set notice = excluded.notice`,
    [taskId, repositoryId, number, notice],
  );
}

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import { queueMirror } from '../../tasks/move.ts';

export async function markShown(
  em: EntityManager,
  mirrored: MirroredRow,
  shown: { commentId: number | null; shown: string; progress: string },
) {
  await em.query(
    `update mirrored set comment_id = $3, shown = $4, shown_progress = $5, shown_at = now()
     where repository_id = $1 and number = $2`,
    [mirrored.repositoryId, mirrored.number, shown.commentId, shown.shown, shown.progress],
  );
}

/** Returns false if the task was deleted. */
export async function markCheck(
  em: EntityManager,
  mirrored: MirroredRow,
  check: { id: number; sha: string; shown: string },
): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update mirrored set check_run_id = $3, check_sha = $4, check_shown = $5 where repository_id = $1 and number = $2`,
    [mirrored.repositoryId, mirrored.number, check.id, check.sha, check.shown],
  );
  return count > 0;
}

/**
 * Forgets what our check run on a commit shows, so that it is written again. Returns the ids of its tasks. `of` is the check run, its
 * commit, or its pull request.
 */
export async function forgetShownCheck(
  em: EntityManager,
  repositoryId: string,
  of: { checkRunId: number } | { sha: string } | { number: number },
): Promise<string[]> {
  const [rows]: [{ taskId: string }[]] = await em.query(
    `update mirrored set check_shown = null
     where repository_id = $1 and (check_run_id = $2 or check_sha = $3 or number = $4) and check_run_id is not null
     returning task_id as "taskId"`,
    [
      repositoryId,
      'checkRunId' in of ? of.checkRunId : null,
      'sha' in of ? of.sha : null,
      'number' in of ? of.number : null,
    ],
  );
  return rows.map(({ taskId }) => taskId);
}

/**
 * Finds the latest check run `deckhand` of a commit, if a task other than that of `mirrored` wrote it: what it says, null while it goes
 * on, and whether its pull request is open on that commit.
 */
export async function findLaterCheck(
  em: EntityManager,
  { repositoryId, number, checkRunId }: MirroredRow,
  sha: string,
) {
  const rows: { conclusion: string | null; isOpen: boolean }[] = await em.query(
    `select m.check_shown::jsonb ->> 'conclusion' as conclusion,
       exists (select 1 from pull_requests p where p.repository_id = m.repository_id and p.number = m.number
         and p.head_sha = $3 and p.status in ('open', 'draft')) as "isOpen" /* not null */
     from mirrored m
     where m.repository_id = $1 and m.check_sha = $3 and m.number <> $2 and m.check_run_id > coalesce($4, 0)
     order by m.check_run_id desc limit 1`,
    [repositoryId, number, sha, checkRunId],
  );
  return rows[0];
}

/** Finds the latest check run of a commit among those of other tasks than the one of `mirrored`. */
export async function findOtherCheck(em: EntityManager, { repositoryId, number }: MirroredRow, sha: string) {
  const rows: { id: number }[] = await em.query(
    `select check_run_id::float8 as id /* not null */ from mirrored
     where repository_id = $1 and check_sha = $2 and number <> $3 and check_run_id is not null
     order by check_run_id desc limit 1`,
    [repositoryId, sha, number],
  );
  return rows[0]?.id;
}

/** Lists the tasks that have a check run of a commit; none for null. */
export async function listShownOn(em: EntityManager, repositoryId: string, sha: string | null): Promise<string[]> {
  const rows: { taskId: string }[] = await em.query(
    'select task_id as "taskId" from mirrored where repository_id = $1 and check_sha = $2',
    [repositoryId, sha],
  );
  return rows.map(({ taskId }) => taskId);
}

/** Queues the job of every task that is shown on an issue or pull request of a repository, because other people read it now. */
export async function showAllAgain(app: App, repositoryId: string): Promise<void> {
  const rows: { taskId: string }[] = await app.db.manager.query(
    'select distinct task_id as "taskId" from mirrored where repository_id = $1',
    [repositoryId],
  );
  for (const { taskId } of rows) await queueMirror(app, undefined, taskId);
}

/** Stores which milestone we set; null for none. */
export async function markMilestone(em: EntityManager, mirrored: MirroredRow, milestone: number | null): Promise<void> {
  await em.query('update mirrored set milestone = $3 where repository_id = $1 and number = $2', [
    mirrored.repositoryId,
    mirrored.number,
    milestone,
  ]);
}

/** Stores which issue a task has. From now on, its text may repeat what people write there, also after the link has gone. */
export async function linkIssue(
  em: EntityManager,
  taskId: string,
  issue: { repositoryId: string; number: number; url: string },
): Promise<void> {
  await em.query(
    `update tasks set issue_repository_id = $2, issue_number = $3, issue_url = $4, wants_issue = false,
       issue_title = title, issue_body = description,
       text_repository_ids = (text_repository_ids - $2::text) || jsonb_build_array($2::text) where id = $1`,
    [taskId, issue.repositoryId, issue.number, issue.url],
  );
}

import type { EntityManager } from 'typeorm';
import { newId } from '../../db/ids.ts';
import { storableText } from '../../domain/text/sanitize.ts';

export type CommentState = 'open' | 'addressed' | 'outdated';

/** A comment of a person on a line of a task's change. */
export interface ReviewComment {
  id: string;
  path: string;
  line: number | null;
  side: 'old' | 'new';
  text: string;
  author: string;
  at: Date;
  round: number;
  state: CommentState;
  answer: string | null;
  told: boolean;
}

/** Returns the comments on the change of a task, oldest first. */
export async function listReviewComments(
  em: EntityManager,
  taskId: string,
  { limit, offset }: { limit?: number | undefined; offset: number },
): Promise<ReviewComment[]> {
  return em.query(
    `select c.id, c.path, c.line, c.side, c.text, c.author, c.at, c.round, c.answer, c.revision_id is not null as told,
       case when c.addressed_at is not null then 'addressed' when c.is_outdated then 'outdated' else 'open' end as state
     from review_comments c where c.task_id = $1 order by c.at, c.id limit $2 offset $3`,
    [taskId, limit === undefined ? null : limit + 1, offset],
  );
}

/** A comment as it is found, without what became of it. */
export interface FoundComment extends Pick<ReviewComment, 'path' | 'line' | 'side' | 'text' | 'author' | 'at'> {
  taskId: string;
  repositoryId: string;
  /** Where it is on GitHub; null for a comment of the dashboard. */
  onGitHub: { number: number; id: number; threadId: number; isOutdated: boolean } | null;
}

/** SQL: the round in which something was written: one more than the revisions that had ended by then. */
const roundAt = `(select 1 + count(*)::int from runs r
  where r.task_id = $2 and r.kind = 'revise' and r.status = 'succeeded' and r.finished_at <= $11::timestamptz)`;

/** Stores a comment, or what has changed of it. Returns its id. */
export async function saveComment(em: EntityManager, found: FoundComment, id = newId('comment')): Promise<string> {
  const { taskId, repositoryId, onGitHub, path, line, side, text, author, at } = found;
  const [row]: [{ id: string }] = await em.query(
    `insert into review_comments (id, task_id, repository_id, number, github_id, thread_id, path, line, side, text, at,
       author, is_outdated, round)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${roundAt})
     on conflict (repository_id, github_id) do update set text = excluded.text, line = excluded.line,
       author = excluded.author, thread_id = excluded.thread_id, is_outdated = excluded.is_outdated
     returning id`,
    [
      id,
      taskId,
      repositoryId,
      onGitHub?.number ?? null,
      onGitHub?.id ?? null,
      onGitHub?.threadId ?? null,
      storableText(path),
      line,
      side,
      storableText(text),
      at,
      storableText(author),
      onGitHub?.isOutdated ?? false,
    ],
  );
  return row.id;
}

/** Forgets the comments of a pull request, from the `oldest` that was read, that are no longer on GitHub. */
export async function keepOnly(
  em: EntityManager,
  { repositoryId, number }: { repositoryId: string; number: number },
  githubIds: number[],
  oldest: number,
): Promise<void> {
  await em.query(
    `delete from review_comments
     where repository_id = $1 and number = $2 and github_id >= $4::bigint and not github_id = any($3::bigint[])`,
    [repositoryId, number, githubIds, oldest],
  );
}

/** Forgets a comment of a pull request that is no longer on GitHub. */
export async function forgetComment(
  em: EntityManager,
  { repositoryId, number }: { repositoryId: string; number: number },
  githubId: number,
): Promise<void> {
  await em.query('delete from review_comments where repository_id = $1 and number = $2 and github_id = $3', [
    repositoryId,
    number,
    githubId,
  ]);
}

/**
 * Says where a comment of the dashboard is on GitHub. Returns false if the task has no such comment: people may edit what the
 * App wrote.
 */
export async function placeOnGitHub(
  em: EntityManager,
  { id, taskId, repositoryId }: Pick<FoundComment, 'taskId' | 'repositoryId'> & { id: string },
  at: NonNullable<FoundComment['onGitHub']>,
): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update review_comments set number = $2, github_id = $3, thread_id = $4, is_outdated = $5
     where id = $1 and task_id = $6 and repository_id = $7`,
    [id, at.number, at.id, at.threadId, at.isOutdated, taskId, repositoryId],
  );
  return count > 0;
}

/** Makes comments part of the request with this cause. Those that were answered before keep their answer. */
export async function giveComments(em: EntityManager, ids: string[], cause: string): Promise<void> {
  await em.query(
    `update review_comments set revision_id = (select id from revisions where cause = $2)
     where id = any($1) and addressed_at is null`,
    [ids, cause],
  );
}

/** Keeps what the agent of a run wants to answer to a comment, and to the others of its thread. Returns whether it may. */
export async function draftAnswer(em: EntityManager, runId: string, id: string, answer: string): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update review_comments c set drafted_answer = $3, drafted_by = $1
     from review_comments asked, revisions v, revisions w
     where asked.id = $2 and v.id = asked.revision_id and v.run_id = $1 and w.id = c.revision_id and w.run_id = $1
       and (c.id = asked.id or c.repository_id = asked.repository_id and c.thread_id = asked.thread_id)`,
    [runId, id, storableText(answer)],
  );
  return count > 0;
}

/** Returns whether a run was asked to act on comments. */
export async function hasComments(em: EntityManager, runId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    'select 1 from review_comments c join revisions v on v.id = c.revision_id where v.run_id = $1 limit 1',
    [runId],
  );
  return rows.length > 0;
}

/** How a run that succeeded ended: the commit that it pushed to each repository, and what it says of its work. */
export interface Ended {
  commits: Map<string, string>;
  summary: string;
}

/**
 * Answers the comments that a run was asked to act on: with what its agent wrote, otherwise with the commit that it pushed
 * to their repository. A comment about which it neither wrote nor changed anything stays open.
 */
export async function answerComments(em: EntityManager, runId: string, { commits, summary }: Ended): Promise<void> {
  const rows: { id: string; repositoryId: string; drafted: string | null }[] = await em.query(
    `select c.id, c.repository_id as "repositoryId", case when c.drafted_by = $1 then c.drafted_answer end as drafted
     from review_comments c join revisions v on v.id = c.revision_id where v.run_id = $1`,
    [runId],
  );
  for (const { id, repositoryId, drafted } of rows) {
    const commit = commits.get(repositoryId);
    const answer = drafted ?? (commit === undefined ? `${nothingChanged} ${summary}`.trim() : addressedIn(commit));
    await em.query(
      `update review_comments set answer = $2, addressed_at = case when $3 then now() else addressed_at end
       where id = $1`,
      [id, answer, drafted !== null || commit !== undefined],
    );
  }
}

/**
 * Reopens the comments that were addressed in these repositories after the run to which a rewind goes back: the branch no longer
 * has these changes.
 */
export async function reopenComments(em: EntityManager, runId: string, repositoryIds: string[]): Promise<void> {
  await em.query(
    `update review_comments c set addressed_at = null, answer = null
     from runs rewound join runs kept on kept.id = rewound.continues_run_id, revisions v join runs r on r.id = v.run_id
     where rewound.id = $1 and c.task_id = rewound.task_id and v.id = c.revision_id and r.created_at > kept.created_at
       and r.id <> rewound.id and c.repository_id = any($2) and c.addressed_at is not null`,
    [runId, repositoryIds],
  );
}

export const nothingChanged = 'Nothing was changed.';
export const addressedIn = (commit: string) => `Addressed in ${commit}.`;

/** Returns the answers to a request, by GitHub's number of the first comment of each thread. */
export async function findAnswers(em: EntityManager, revisionId: string): Promise<Map<number, string>> {
  const rows: { threadId: number; answer: string }[] = await em.query(
    `select c.thread_id::float8 as "threadId" /* not null */, c.answer /* not null */ from review_comments c
     where c.revision_id = $1 and c.thread_id is not null and c.answer is not null order by c.at, c.id`,
    [revisionId],
  );
  return new Map(rows.map(({ threadId, answer }) => [threadId, answer]));
}

/** A request of the dashboard that a review on GitHub does not show yet. */
export interface UnpostedRequest {
  id: string;
  cause: string;
  /** What the person wrote about the whole. */
  said: string;
  author: string | null;
}

export async function listUnpostedRequests(em: EntityManager, taskId: string): Promise<UnpostedRequest[]> {
  return em.query(
    `select v.id, v.cause /* not null */, coalesce(v.said, '') as said, u.login as author
     from revisions v left join users u on u.id = v.asked_by
     where v.task_id = $1 and v.cause like 'dashboard/%' and v.review_posted_at is null order by v.created_at, v.id`,
    [taskId],
  );
}

/** Notes which review shows a request; null if GitHub shows none. */
export async function markPosted(em: EntityManager, id: string, reviewId: number | null): Promise<void> {
  await em.query('update revisions set github_review_id = $2, review_posted_at = now() where id = $1', [id, reviewId]);
}

/** Lists the comments of a request, in the order of the files. */
export async function listCommentsOf(em: EntityManager, revisionId: string) {
  const rows: Pick<ReviewComment, 'id' | 'path' | 'line' | 'side' | 'text'>[] = await em.query(
    'select id, path, line, side, text from review_comments where revision_id = $1 order by path, line, id',
    [revisionId],
  );
  return rows;
}

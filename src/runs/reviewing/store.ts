import type { EntityManager } from 'typeorm';
import type { Severity } from '../../domain/reviewing/choose-comments.ts';
import type { RunKind } from '../../domain/run.ts';
import { storableText } from '../../domain/text/sanitize.ts';

/** A pull request of a connected repository. */
export interface PullRef {
  repositoryId: string;
  number: number;
}

/** What a run of the kind `review`, `fix` or `prove` was asked for: the pull request as it was then. */
export interface PullAsk extends PullRef {
  runId: string;
  headSha: string;
  headBranch: string;
  baseBranch: string;
  /** The branch is in another repository, so whoever owns that one chooses what is in it. */
  isFork: boolean;
  /** Somebody with write permission asked. */
  byWriter: boolean;
  /** The code is of somebody who may not write here, so nothing of it is kept. Known of proofs only. */
  isForeign?: boolean;
  title: string;
  body: string;
  /** The login of the person who opened it; null for a deleted account. */
  author: string | null;
}

const askColumns = `p.run_id as "runId", p.repository_id as "repositoryId", p.number, p.head_sha as "headSha",
  p.head_branch as "headBranch", p.base_branch as "baseBranch", p.is_fork as "isFork", p.by_writer as "byWriter", p.is_foreign as "isForeign",
  p.title, p.body, p.author`;

export async function insertAsk(em: EntityManager, ask: PullAsk): Promise<void> {
  await em.query(
    `insert into pull_asks (run_id, repository_id, number, head_sha, head_branch, base_branch, is_fork, by_writer, is_foreign, title, body, author)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[ask.runId, ask.repositoryId, ask.number, ask.headSha, ask.headBranch, ask.baseBranch],
      ...[ask.isFork, ask.byWriter, ask.isForeign ?? false, ask.title, ask.body, ask.author],
    ],
  );
}

/** Finds what a run was asked for; undefined for a run of another kind. */
export async function findAsk(em: EntityManager, runId: string): Promise<PullAsk | undefined> {
  const rows: PullAsk[] = await em.query(`select ${askColumns} from pull_asks p where p.run_id = $1`, [runId]);
  return rows[0];
}

/** Returns the task to which a pull request belongs; undefined for one of a person. */
export async function findTaskOfPull(
  em: EntityManager,
  repositoryId: string,
  number: number,
): Promise<string | undefined> {
  const rows: { taskId: string }[] = await em.query(
    'select task_id as "taskId" from pull_requests where repository_id = $1 and number = $2',
    [repositoryId, number],
  );
  return rows[0]?.taskId;
}

/** Returns the number of the open pull request that a task of any project has for a branch; undefined if none has. */
export async function findTaskPullOfBranch(
  em: EntityManager,
  repositoryId: string,
  branch: string,
): Promise<number | undefined> {
  const rows: { number: number }[] = await em.query(
    `select p.number from repositories own join repositories r on r.id = own.id or r.github_id = own.github_id
     join pull_requests p on p.repository_id = r.id
     where own.id = $1 and p.head_branch = $2 and p.status in ('open', 'draft') limit 1`,
    [repositoryId, branch],
  );
  return rows[0]?.number;
}

/** What a hidden task of a pull request is for: what agents do, or proofs. Each has its own live run. */
export type PurposeOfHidden = 'agents' | 'proof';

/** Returns the hidden task of a pull request. */
export async function findTaskOfReviewed(
  em: EntityManager,
  { repositoryId, number }: PullRef,
  purpose: PurposeOfHidden,
): Promise<string | undefined> {
  const rows: { taskId: string }[] = await em.query(
    'select task_id as "taskId" from reviewed_pulls where repository_id = $1 and number = $2 and purpose = $3',
    [repositoryId, number, purpose],
  );
  return rows[0]?.taskId;
}

export async function insertReviewed(
  em: EntityManager,
  { repositoryId, number }: PullRef,
  purpose: PurposeOfHidden,
  taskId: string,
): Promise<void> {
  await em.query('insert into reviewed_pulls (repository_id, number, purpose, task_id) values ($1, $2, $3, $4)', [
    repositoryId,
    number,
    purpose,
    taskId,
  ]);
}

/** Whether somebody, or the repository, asked agents about this commit of a pull request. */
export async function isAsked(em: EntityManager, { repositoryId, number }: PullRef, headSha: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from pull_asks p join runs r on r.id = p.run_id and r.kind <> 'prove'
     where p.repository_id = $1 and p.number = $2 and p.head_sha = $3 limit 1`,
    [repositoryId, number, headSha],
  );
  return rows.length > 0;
}

/** Counts the reviews and fixes of a repository that were asked for today (UTC). */
export async function countAsksToday(em: EntityManager, repositoryId: string): Promise<number> {
  const [row]: [{ count: number }] = await em.query(
    `select count(*)::int as count from pull_asks p join runs r on r.id = p.run_id and r.kind <> 'prove'
     where p.repository_id = $1
       and p.created_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`,
    [repositoryId],
  );
  return row.count;
}

/** Counts the reviews of a pull request that began by themselves since a person last asked for one. */
export async function countRepeats(em: EntityManager, { repositoryId, number }: PullRef): Promise<number> {
  const [row]: [{ count: number }] = await em.query(
    `with asks as (
       select r.is_automatic, p.created_at from pull_asks p join runs r on r.id = p.run_id and r.kind = 'review'
       where p.repository_id = $1 and p.number = $2)
     select count(*)::int as count from asks
     where is_automatic and created_at > coalesce((select max(created_at) from asks where not is_automatic), '-infinity')`,
    [repositoryId, number],
  );
  return row.count;
}

/** Returns the last review of a pull request that was posted, and the number of them. */
export async function findLastReview(
  em: EntityManager,
  { repositoryId, number }: PullRef,
): Promise<{ headSha: string; baseBranch: string; rounds: number } | undefined> {
  const rows: { headSha: string; baseBranch: string; rounds: number }[] = await em.query(
    `select p.head_sha as "headSha", p.base_branch as "baseBranch", count(*) over ()::int as rounds /* not null */
     from pull_asks p join runs r on r.id = p.run_id and r.kind = 'review'
     where p.repository_id = $1 and p.number = $2 and p.posted_at is not null
     order by p.created_at desc, p.run_id desc limit 1`,
    [repositoryId, number],
  );
  return rows[0];
}

export async function markReviewPosted(em: EntityManager, runId: string): Promise<void> {
  await em.query('update pull_asks set posted_at = now() where run_id = $1', [runId]);
}

export type NotUseful = 'resolved' | 'thumbs_down';

/** One of our comments on a line of a pull request. */
export interface ReviewNote extends PullRef {
  id: string;
  runId: string;
  place: number;
  path: string;
  line: number;
  side: 'LEFT' | 'RIGHT';
  /** The line as it was. */
  quote: string;
  severity: Severity;
  text: string;
  suggestion: string | null;
  /** GitHub's number; null until it was looked up. */
  githubId: number | null;
}

const noteColumns = `n.id, n.run_id as "runId", n.repository_id as "repositoryId", n.number, n.place, n.path, n.line,
  n.side, n.quote, n.severity, n.text, n.suggestion, n.github_id::float8 as "githubId"`;

export async function insertNote(em: EntityManager, note: ReviewNote): Promise<void> {
  await em.query(
    `insert into review_notes (id, run_id, repository_id, number, place, path, line, side, quote, severity, text, suggestion)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[note.id, note.runId, note.repositoryId, note.number, note.place, note.path, note.line, note.side],
      ...[note.quote, note.severity, note.text, note.suggestion],
    ],
  );
}

/** Returns the comments of a run, in the order of its review. */
export async function listNotesOfRun(em: EntityManager, runId: string): Promise<ReviewNote[]> {
  return em.query(`select ${noteColumns} from review_notes n where n.run_id = $1 order by n.place`, [runId]);
}

/** At most this many comments are looked at, the newest ones. */
const maxNotes = 500;

/** Returns the comments that were posted on a pull request, newest first. */
export async function listPostedNotes(em: EntityManager, { repositoryId, number }: PullRef): Promise<ReviewNote[]> {
  return em.query(
    `select ${noteColumns} from review_notes n join pull_asks p on p.run_id = n.run_id and p.posted_at is not null
     where n.repository_id = $1 and n.number = $2 order by n.created_at desc, n.place limit ${maxNotes}`,
    [repositoryId, number],
  );
}

/** Days for which people's reactions to a comment are looked at. */
const keptDays = 90;

/** Returns the newest posted comments of a repository about which nobody has said that they are not useful. */
export async function listUnjudgedNotes(em: EntityManager, repositoryId: string, limit: number): Promise<ReviewNote[]> {
  return em.query(
    `select ${noteColumns} from review_notes n join pull_asks p on p.run_id = n.run_id and p.posted_at is not null
     where n.repository_id = $1 and n.not_useful is null and not n.is_settled and n.created_at > now() - make_interval(days => ${keptDays})
     order by n.created_at desc, n.place limit $2`,
    [repositoryId, limit],
  );
}

export async function setNoteNumber(em: EntityManager, id: string, githubId: number): Promise<void> {
  await em.query('update review_notes set github_id = $2 where id = $1', [id, githubId]);
}

/** Remembers that a comment was not useful. The first reason stays. */
export async function markNotUseful(em: EntityManager, id: string, why: NotUseful): Promise<void> {
  await em.query(
    'update review_notes set not_useful = $2, not_useful_at = now() where id = $1 and not_useful is null',
    [id, why],
  );
}

/** A comment that people found not useful. */
export interface NotUsefulNote extends Pick<ReviewNote, 'id' | 'number' | 'path' | 'quote' | 'severity' | 'text'> {
  why: NotUseful;
  /** When a review found that out. */
  at: Date;
}

/** Returns the comments of a repository that were not useful, the latest first. */
export async function listNotUseful(em: EntityManager, repositoryId: string, limit: number): Promise<NotUsefulNote[]> {
  return em.query(
    `select n.id, n.number, n.path, n.quote, n.severity, n.text, n.not_useful as why /* not null */,
       n.not_useful_at as at /* not null */
     from review_notes n where n.repository_id = $1 and n.not_useful is not null
     order by n.not_useful_at desc, n.id limit $2`,
    [repositoryId, limit],
  );
}

/** Finds the pull request that a hidden task stands for, and what its last run was asked. */
export async function findPullOfHidden(
  em: EntityManager,
  taskId: string,
): Promise<(PullRef & { kind: RunKind; headSha: string }) | undefined> {
  const rows: (PullRef & { kind: RunKind; headSha: string })[] = await em.query(
    `select p.repository_id as "repositoryId", p.number, p.head_sha as "headSha", r.kind
     from runs r join pull_asks p on p.run_id = r.id where r.task_id = $1
     order by r.created_at desc, r.id desc limit 1`,
    [taskId],
  );
  return rows[0];
}

/**
 * Forgets that a comment was not useful, and does not look at its reactions again. Returns its text; undefined if the
 * repository has no such example.
 */
export async function forgetNotUseful(
  em: EntityManager,
  repositoryId: string,
  id: string,
): Promise<string | undefined> {
  const [rows]: [{ text: string }[]] = await em.query(
    `update review_notes set not_useful = null, is_settled = true
     where id = $1 and repository_id = $2 and not_useful is not null returning text`,
    [storableText(id), repositoryId],
  );
  return rows[0]?.text;
}

import type { EntityManager } from 'typeorm';
import { newId } from '../db/ids.ts';
import { type RunRow, Runs } from '../db/tables/run.ts';
import { type HandoffRow, Handoffs, type PullRequestRow, PullRequests, type PullStatus } from '../db/tables/task.ts';
import { type Limits, limitsInBudget, lowerLimits, type RunBudget } from '../domain/budget.ts';
import { storableJson } from '../domain/text/sanitize.ts';
import type { TreeDiff } from '../git/diff.ts';

export type RevisionSource = 'person' | 'review' | 'checks' | 'conflict';

/** A request to change work in review, made by a person or by an event on GitHub. */
export interface Revision {
  taskId: string;
  source: RevisionSource;
  text: string;
  /**
   * Identifies the event that requested the revision. A second revision with the same cause is ignored, because GitHub
   * may deliver an event several times.
   */
  cause: string | null;
  askedBy: string | null;
  /** The repositories whose content the text may repeat. A run whose directors may not write there does not get it. */
  repositoryIds?: string[];
  /** What the person wrote about the whole, if a review on GitHub is to show the request. */
  said?: string;
  /** What the person wrote, for the timeline; `text` may also contain instructions to the agent. The default is `text`. */
  words?: string;
}

/** Stores a revision until a run takes it up. Returns false when a revision with the same cause is already stored. */
export async function insertRevision(em: EntityManager, revision: Revision): Promise<boolean> {
  const { taskId, source, text, cause, askedBy, said = null, repositoryIds = [] } = revision;
  const rows: unknown[] = await em.query(
    `insert into revisions (id, task_id, source, text, cause, asked_by, said, repository_ids)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (cause) do nothing returning id`,
    [newId('rev'), taskId, source, text, cause, askedBy, said, storableJson(repositoryIds)],
  );
  return rows.length === 1;
}

type KeptRevision = Required<Pick<Revision, 'source' | 'text' | 'askedBy' | 'repositoryIds'>> & { id: string };
const revisionColumns = `id, source, text, asked_by as "askedBy", repository_ids as "repositoryIds"`;

/** Returns the revisions that no run has taken up yet, oldest first. */
export async function listWaitingRevisions(em: EntityManager, taskId: string): Promise<KeptRevision[]> {
  return em.query(
    `select ${revisionColumns} from revisions where task_id = $1 and run_id is null order by created_at, id`,
    [taskId],
  );
}

/** Returns the revisions that a run has taken up, oldest first. */
export async function listRevisionsOf(em: EntityManager, runId: string): Promise<KeptRevision[]> {
  return em.query(`select ${revisionColumns} from revisions where run_id = $1 order by created_at, id`, [runId]);
}

/** Returns whether the text of a revision repeats nothing from repositories other than that of its task. */
export function isOfOwn({ repositoryIds }: KeptRevision, ownId: string | null): boolean {
  return repositoryIds.every((id) => id === ownId);
}

/** Returns how many revisions wait for a run, and how many characters they have. */
export async function sizeOfWaitingRevisions(em: EntityManager, taskId: string) {
  const [size]: [{ count: number; characters: number }] = await em.query(
    `select count(*)::int as count, coalesce(sum(length(text)), 0)::int as characters from revisions
     where task_id = $1 and run_id is null`,
    [taskId],
  );
  return size;
}

/** Marks revisions as taken up by a run. */
export async function giveRevisionsTo(em: EntityManager, runId: string, ids: string[]): Promise<void> {
  await em.query('update revisions set run_id = $1 where id = any($2)', [runId, ids]);
}

/** Marks the revision with a cause as taken up by a run. */
export async function giveCauseTo(em: EntityManager, runId: string, cause: string): Promise<void> {
  await em.query('update revisions set run_id = $1 where cause = $2', [runId, cause]);
}

/** Makes the revisions of a run that did not succeed available to the next run. */
export async function releaseRevisionsOf(em: EntityManager, runId: string): Promise<void> {
  await em.query('update revisions set run_id = null where run_id = $1', [runId]);
}

/** Deletes revisions. They can be asked for again. */
export async function dropRevisions(em: EntityManager, ids: string[]): Promise<void> {
  await em.query('delete from revisions where id = any($1)', [ids]);
}

/** Deletes the revisions that no run has taken up. Called when the task is done. */
export async function dropWaitingRevisions(em: EntityManager, taskId: string): Promise<void> {
  await em.query('delete from revisions where task_id = $1 and run_id is null', [taskId]);
}

/** Counts the revisions of a task that came from a source and whose cause starts with `causePrefix`. */
export async function countRevisions(
  em: EntityManager,
  taskId: string,
  source: RevisionSource,
  causePrefix: string,
): Promise<number> {
  const [row]: [{ count: number }] = await em.query(
    `select count(*)::int as count from revisions where task_id = $1 and source = $2 and starts_with(cause, $3)`,
    [taskId, source, causePrefix],
  );
  return row.count;
}

/** Returns whether a run has taken up a revision from a source. */
export async function isAskedFor(em: EntityManager, runId: string, source: RevisionSource): Promise<boolean> {
  return (
    (await em.query<unknown[]>('select 1 from revisions where run_id = $1 and source = $2 limit 1', [runId, source]))
      .length > 0
  );
}

/**
 * Lowers limits by the budget that a task has now. A subtask that a model created also has the limits of its parent,
 * so that an agent cannot leave its budget by splitting its task.
 */
export async function lowerByTask(em: EntityManager, taskId: string, limits: Limits): Promise<Limits> {
  const rows: { budget: RunBudget }[] = await em.query(
    `select b.budget from tasks t left join tasks p on p.id = t.parent_id and t.created_by is null
       cross join lateral (values (t.budget), (p.budget)) b (budget)
     where t.id = $1 and b.budget is not null`,
    [taskId],
  );
  return rows.reduce((lowered, { budget }) => lowerLimits(lowered, 'task', limitsInBudget(budget)), limits);
}

/**
 * Excludes pull requests that are merged or closed from the task's lifecycle. Called when a task leaves `done` or
 * `waiting_on_subtasks`. Otherwise an old merged pull request would finish the new work immediately.
 */
export async function discountSettledPulls(em: EntityManager, taskId: string): Promise<void> {
  await em.query(`update pull_requests set counts = false where task_id = $1 and status in ('merged', 'closed')`, [
    taskId,
  ]);
}

/**
 * Removes refusals of commands, labels and buttons from what the comments of a task say. Called when its status changes: a
 * refusal is about what the task was before. Other notices stay.
 */
export async function dropRefusals(em: EntityManager, taskId: string): Promise<void> {
  await em.query(`update mirrored set notice = '' where task_id = $1 and notice like '😕 % was refused: %'`, [taskId]);
}

/** Returns the handoffs of a task, oldest first. */
export async function listHandoffs(em: EntityManager, taskId: string): Promise<HandoffRow[]> {
  return em.find(Handoffs, { where: { taskId }, order: { createdAt: 'ASC', id: 'ASC' } });
}

/** Returns the latest runs of a task, newest first. */
export async function listLatestRuns(em: EntityManager, taskId: string, limit: number): Promise<RunRow[]> {
  return em.find(Runs, { where: { taskId }, order: { createdAt: 'DESC', id: 'DESC' }, take: limit });
}

export async function insertHandoff(
  em: EntityManager,
  handoff: Pick<HandoffRow, 'taskId' | 'runId' | 'summary' | 'nextSteps'>,
): Promise<void> {
  await em.insert(Handoffs, { id: newId('handoff'), ...handoff });
}

interface RelatedHandoff {
  taskId: string;
  runId: string;
  repositoryId: string | null;
  title: string;
  summary: string;
  nextSteps: string[];
  directedBy: string[];
}

/**
 * Returns the last handoff of each task that this one waited for, that is of its dependencies and subtasks, with the
 * ids of the people whose words are in it. Covers at most 30 tasks.
 */
export async function listRelatedHandoffs(em: EntityManager, taskId: string) {
  const rows: RelatedHandoff[] = await em.query(
    `select o.id as "taskId", h.run_id as "runId", o.repository_id as "repositoryId", o.title, h.summary, h.next_steps as "nextSteps",
       o.directed_by || coalesce((select r.directed_by from runs r where r.id = h.run_id), '[]') as "directedBy"
     from tasks o join lateral (
       select * from handoffs where task_id = o.id order by created_at desc, id desc limit 1) h on true
     where o.parent_id = $1 or o.id in (select depends_on_id from task_dependencies where task_id = $1)
     order by o.created_at, o.id limit 30`,
    [taskId],
  );
  return rows;
}

interface PullOfTask {
  repositoryId: string;
  repositoryName: string;
  /** Whether its repository is private. */
  isPrivate: boolean;
  prUrl: string;
  prNumber: number;
  status: PullStatus;
}

/** Returns the pull requests of a task, oldest first. */
export async function listPulls(em: EntityManager, taskId: string) {
  const rows: PullOfTask[] = await em.query(
    `select p.repository_id as "repositoryId", r.name as "repositoryName", r.is_private as "isPrivate",
         p.url as "prUrl", p.number as "prNumber", p.status
       from pull_requests p join repositories r on r.id = p.repository_id
       where p.task_id = $1 order by p.created_at, p.number`,
    [taskId],
  );
  return rows;
}

/**
 * Returns open and draft pull requests in the order in which their repositories were connected; those of an undo, in the order in
 * which it reverts. They are merged in this order.
 */
export async function listOpenPulls(em: EntityManager, taskId: string): Promise<PullRequestRow[]> {
  const pulls = await em
    .createQueryBuilder(PullRequests, 'p')
    .innerJoin('repositories', 'r', 'r.id = p.repositoryId')
    .where(`p.taskId = :taskId and p.status in ('open', 'draft')`, { taskId })
    .orderBy('r.created_at')
    .addOrderBy('p.number')
    .getMany();
  const undone: { repositoryId: string }[] = await em.query(
    'select repository_id as "repositoryId" from undone_pulls where task_id = $1 order by place',
    [taskId],
  );
  const placeOf = (pull: PullRequestRow) => undone.findIndex(({ repositoryId }) => repositoryId === pull.repositoryId);
  return pulls.sort((a, b) => placeOf(a) - placeOf(b));
}

/** Returns whether a merged pull request still counts for the task's lifecycle. */
export async function hasMergedPull(em: EntityManager, taskId: string): Promise<boolean> {
  return em.existsBy(PullRequests, { taskId, status: 'merged', counts: true });
}

/** Returns whether a pull request of the task is open. Drafts do not count. */
export async function hasOpenPull(em: EntityManager, taskId: string): Promise<boolean> {
  return em.existsBy(PullRequests, { taskId, status: 'open' });
}

/** Returns the pull requests of a task in one repository, newest first. */
export async function listPullsIn(em: EntityManager, taskId: string, repositoryId: string): Promise<PullRequestRow[]> {
  return em.find(PullRequests, { where: { taskId, repositoryId }, order: { createdAt: 'DESC', number: 'DESC' } });
}

export async function setPullStatus(
  em: EntityManager,
  repositoryId: string,
  number: number,
  status: PullStatus,
): Promise<void> {
  await em.update(PullRequests, { repositoryId, number }, { status });
}

/**
 * Forbids to merge the open pull request of a branch while this commit is its head. Before a push, a head that is not ready
 * must stay so, because the push may fail; `unless` says that then nothing is stored.
 */
export async function setUnreadySha(
  em: EntityManager,
  { taskId, repositoryId, headBranch }: Pick<PullRequestRow, 'taskId' | 'repositoryId' | 'headBranch'>,
  unreadySha: string,
  unless?: 'unless its head is not ready',
): Promise<void> {
  await em.query(
    `update pull_requests set unready_sha = $4
     where task_id = $1 and repository_id = $2 and head_branch = $3 and status in ('open', 'draft')
       and not ($5::boolean and unready_sha is not distinct from head_sha)`,
    [taskId, repositoryId, headBranch, unreadySha, unless !== undefined],
  );
}

/** Stores a pull request that a run has opened or found. Without `unreadySha`, a stored one stays. */
export async function upsertPull(
  em: EntityManager,
  pull: Pick<
    PullRequestRow,
    'taskId' | 'repositoryId' | 'number' | 'url' | 'status' | 'headBranch' | 'baseBranch' | 'headSha' | 'headSince'
  > & {
    unreadySha?: string | null;
  },
): Promise<void> {
  await em.upsert(PullRequests, pull, ['repositoryId', 'number']);
}

export interface StoredDiff extends TreeDiff {
  branchName: string;
  baseBranch: string;
  /** The head of the branch when the diff was computed. */
  headSha: string;
}

/** Deletes up to `limit` stored diffs of tasks that are done and were computed over `days` ago. GitHub shows them on. */
export async function deleteOldDiffs(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from diffs where task_id in (
       select d.task_id from diffs d join tasks t on t.id = d.task_id
       where d.at < now() - make_interval(days => $1) and t.status = 'done' order by d.at limit $2)`,
    [days, limit],
  );
  return count;
}

const upsertDiffSql = `insert into diffs (task_id, branch_name, base_branch, files, truncated, head_sha) values ($1, $2, $3, $4, $5, $6)
  on conflict (task_id) do update set branch_name = excluded.branch_name, base_branch = excluded.base_branch,
    files = excluded.files, truncated = excluded.truncated, head_sha = excluded.head_sha, at = now()`;

const valuesOf = (taskId: string, diff: StoredDiff) => [
  ...[taskId, diff.branchName, diff.baseBranch, storableJson(diff.files), diff.truncated, diff.headSha],
];

export async function upsertDiff(em: EntityManager, taskId: string, diff: StoredDiff): Promise<void> {
  await em.query(upsertDiffSql, valuesOf(taskId, diff));
}

/** What a diff is of. */
type DiffKey = Pick<StoredDiff, 'headSha' | 'baseBranch'>;

/**
 * Stores a diff in place of one that was read before, or of none. Returns false, and stores nothing, if another one was stored
 * since.
 */
export async function replaceDiff(
  em: EntityManager,
  taskId: string,
  diff: StoredDiff,
  before: DiffKey | null,
): Promise<boolean> {
  const stored: unknown[] = await em.query(
    `${upsertDiffSql} where (diffs.head_sha, diffs.base_branch) is not distinct from ($7::text, $8::text) returning 1`,
    [...valuesOf(taskId, diff), before?.headSha ?? null, before?.baseBranch ?? null],
  );
  return stored.length > 0;
}

/** A diff that has to be read again: of the branch of a task and its base. */
export interface StaleDiff {
  taskId: string;
  branchName: string;
  baseBranch: string;
  /** What the stored diff is of; null if none is stored. */
  before: DiffKey | null;
}

/**
 * Finds out whether the diff of a task is of another head, or another base, than its open pull request has. A task shows the
 * diff of its own repository and of its present branch only.
 */
export async function findStaleDiff(
  em: EntityManager,
  { repositoryId, number }: Pick<PullRequestRow, 'repositoryId' | 'number'>,
): Promise<StaleDiff | undefined> {
  const rows: (Omit<StaleDiff, 'before'> & { [K in keyof DiffKey as `${K}Before`]: string | null })[] = await em.query(
    `select t.id as "taskId", p.head_branch as "branchName", coalesce(p.base_branch, r.default_branch) as "baseBranch",
       d.head_sha as "headShaBefore", d.base_branch as "baseBranchBefore"
     from pull_requests p
     join repositories r on r.id = p.repository_id
     join tasks t on t.id = p.task_id and t.repository_id = r.id and t.branch_name = p.head_branch
     left join diffs d on d.task_id = t.id
     where p.repository_id = $1 and p.number = $2 and p.status in ('open', 'draft')
       and (d.head_sha, d.base_branch) is distinct from (p.head_sha, coalesce(p.base_branch, r.default_branch))`,
    [repositoryId, number],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { headShaBefore: headSha, baseBranchBefore: baseBranch, ...stale } = row;
  return { ...stale, before: headSha === null || baseBranch === null ? null : { headSha, baseBranch } };
}

/** Returns the diff of the change that waits for approval; undefined when none does. */
export async function findHeldDiff(
  em: EntityManager,
  taskId: string,
): Promise<Omit<StoredDiff, 'headSha'> | undefined> {
  const rows: Omit<StoredDiff, 'headSha'>[] = await em.query(
    `select h.branch_name as "branchName", h.base_branch as "baseBranch", h.files, h.truncated
     from held_changes h join runs r on r.id = h.run_id
     where h.task_id = $1 and h.approved_at is null and r.status = 'waiting' and r.wait_reason = 'push'`,
    [taskId],
  );
  return rows[0];
}

export async function findDiff(em: EntityManager, taskId: string): Promise<StoredDiff | undefined> {
  const rows: StoredDiff[] = await em.query(
    `select branch_name as "branchName", base_branch as "baseBranch", head_sha as "headSha", files, truncated from diffs where task_id = $1`,
    [taskId],
  );
  return rows[0];
}

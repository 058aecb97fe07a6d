import { type EntityManager, In, Not } from 'typeorm';
import type { Database } from '../db/database.ts';
import { lockUntilCommit } from '../db/locks.ts';
import { type InstallationRow, Installations, Mirrored, type MirroredRow } from '../db/tables/github.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { type PullRequestRow, PullRequests } from '../db/tables/task.ts';
import type { TaskStatus } from '../domain/task.ts';
import { repositoryColumns } from '../repositories/store.ts';

export async function findInstallation(em: EntityManager, installationId: number): Promise<InstallationRow | null> {
  return em.findOneBy(Installations, { installationId });
}

export async function listActiveInstallations(em: EntityManager): Promise<InstallationRow[]> {
  return em.findBy(Installations, { status: 'active' });
}

/** Lists what keeps installations from working, at most 100. */
export async function listTroubledInstallations(em: EntityManager): Promise<{ reason: string }[]> {
  return em.query(
    `select case status when 'suspended' then 'the App is suspended for ' || account_login else problem_reason end as reason /* not null */
     from installations where status = 'suspended' or status = 'active' and problem is not null
     order by account_login limit 100`,
  );
}

/** Finds a repository that an active installation covers, by GitHub's number. */
export async function findInstalledRepository(em: EntityManager, installationId: number, githubId: number) {
  const rows: RepositoryRow[] = await em.query(
    `select ${repositoryColumns} from repositories r join installations i on i.project_id = r.project_id
     where i.installation_id = $1 and i.status = 'active' and r.github_id = $2 and r.is_installed`,
    [installationId, githubId],
  );
  return rows[0];
}

/** Finds the id of the task that an issue belongs to. */
export async function findTaskOfIssue(
  em: EntityManager,
  repositoryId: string,
  number: number,
): Promise<string | undefined> {
  const rows: { id: string }[] = await em.query(
    'select id from tasks where issue_repository_id = $1 and issue_number = $2',
    [repositoryId, number],
  );
  return rows[0]?.id;
}

/** A pull request without its figures. */
export type PullFound = Pick<
  PullRequestRow,
  'taskId' | 'repositoryId' | 'number' | 'url' | 'status' | 'headBranch' | 'headSha'
>;

/** Finds a pull request by GitHub's numbers. Returns one row for each project that connected its repository. */
export async function findPullsByGitHub(em: EntityManager, githubId: number, number: number) {
  const rows: (PullFound & { projectId: string })[] = await em.query(
    `select p.task_id as "taskId", p.repository_id as "repositoryId", p.number, p.url, p.status,
       p.head_branch as "headBranch", p.head_sha as "headSha", r.project_id as "projectId"
     from pull_requests p join repositories r on r.id = p.repository_id
     where r.github_id = $1 and p.number = $2`,
    [githubId, number],
  );
  return rows;
}

/** Detaches a deleted or transferred issue from its task. */
export async function unlinkIssue(em: EntityManager, repositoryId: string, number: number): Promise<void> {
  await em.query(
    `with unlinked as (
       update tasks set issue_repository_id = null, issue_number = null, issue_url = null, issue_title = null,
         issue_body = null, issue_type = null, issue_assignees = '[]', updated_at = now()
       where issue_repository_id = $1 and issue_number = $2 returning id)
     delete from issue_links l using unlinked u where u.id in (l.task_id, l.other_id)`,
    [repositoryId, number],
  );
  await em.query('delete from mirrored where repository_id = $1 and number = $2', [repositoryId, number]);
}

/** Stores what the issue of a task says. */
export async function setIssueText(em: EntityManager, taskId: string, title: string, body: string): Promise<void> {
  await em.query(
    `update tasks set issue_title = $2, issue_body = $3
     where id = $1 and issue_number is not null and (issue_title, issue_body) is distinct from ($2, $3)`,
    [taskId, title, body],
  );
}

/** Stores the type and the assignees of the issue of a task. */
export async function setIssueBesides(
  em: EntityManager,
  taskId: string,
  { type, assignees }: { type: string | null; assignees: string[] },
): Promise<void> {
  await em.query(
    `update tasks set issue_type = $2, issue_assignees = $3
     where id = $1 and issue_number is not null and (issue_type, issue_assignees) is distinct from ($2::text, $3::jsonb)`,
    [taskId, type, JSON.stringify(assignees)],
  );
}

/** Finds the open pull requests of a repository with this commit as their head. */
export async function findOpenPullsByHead(em: EntityManager, repositoryId: string, sha: string) {
  return em.findBy(PullRequests, { repositoryId, headSha: sha, status: In(['open', 'draft']) });
}

/** A request in a review, whose threads have no answers yet. */
export interface UnansweredRequest {
  id: string;
  cause: string;
  headSha: string;
  changedNothing: boolean;
  githubReviewId: number | null;
}

/** Finds the requests in reviews that a successful run has worked on and that we have not replied to yet. */
export async function listUnansweredReviews(em: EntityManager, taskId: string) {
  const rows: UnansweredRequest[] = await em.query(
    `select v.id, v.cause /* not null */, p.head_sha as "headSha", r.changed_nothing as "changedNothing",
       v.github_review_id::float8 as "githubReviewId"
     from revisions v join runs r on r.id = v.run_id and r.status = 'succeeded'
     join pull_requests p on p.repository_id = split_part(v.cause, '/', 2) and p.number = split_part(v.cause, '/', 3)::int
     where v.task_id = $1 and (v.source = 'review' or v.cause like 'thread/%' or v.github_review_id is not null)
       and v.answered_at is null order by v.created_at`,
    [taskId],
  );
  return rows;
}

export async function markAnswered(em: EntityManager, revisionId: string): Promise<void> {
  await em.query('update revisions set answered_at = now() where id = $1', [revisionId]);
}

/** Finds the task and the pull request that our check run is about. */
export async function findTaskOfCheck(em: EntityManager, repositoryId: string, checkRunId: number) {
  const rows: { taskId: string; number: number }[] = await em.query(
    'select task_id as "taskId", number from mirrored where repository_id = $1 and check_run_id = $2',
    [repositoryId, checkRunId],
  );
  return rows[0];
}

/** Returns the ids of the projects with an active installation: those in which a user may work, or all if `userId` is null. */
export async function listProjectsWithInstallation(em: EntityManager, userId: string | null): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select p.id from projects p
     where exists (select 1 from installations i where i.project_id = p.id and i.status = 'active')
       and ($1::text is null or exists (select 1 from members m where m.project_id = p.id and m.user_id = $1 and m.role <> 'viewer'))`,
    [userId],
  );
  return rows.map((r) => r.id);
}

/**
 * Returns the ids of the repositories of a project that its installation covers. The order is random, so that no
 * repository always comes last.
 */
export async function listInstalledRepositories(em: EntityManager, projectId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    'select id from repositories where is_installed and project_id = $1 order by random()',
    [projectId],
  );
  return rows.map((r) => r.id);
}

/** SQL: whether repository `r` is connected without the App, and a pull request of it may still change. */
const isFollowed = `not r.is_installed and exists (select from pull_requests q join tasks t on t.id = q.task_id
  where q.repository_id = r.id and q.status in ('open', 'draft', 'closed') and t.status <> 'done')`;

/** Returns the ids of the repositories of a project that are connected without the App and have open work. */
export async function listConnectedRepositories(em: EntityManager, projectId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select r.id from repositories r where r.project_id = $1 and ${isFollowed} order by random()`,
    [projectId],
  );
  return rows.map((row) => row.id);
}

/** Returns the projects in which a user is more than a viewer, or all, that have something to compare with GitHub. */
export async function listProjectsToCompare(em: EntityManager, userId: string | null): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select p.id from projects p
     where (exists (select 1 from installations i where i.project_id = p.id and i.status = 'active')
         or exists (select 1 from repositories r where r.project_id = p.id and ${isFollowed}))
       and ($1::text is null or exists (select 1 from members m where m.project_id = p.id and m.user_id = $1 and m.role <> 'viewer'))`,
    [userId],
  );
  return rows.map((row) => row.id);
}

export interface OpenWork {
  taskId: string;
  status: TaskStatus;
  issueRepositoryId: string | null;
  issueNumber: number | null;
  /** Numbers of the task's issue and pull requests in the repository. */
  numbers: number[];
}

/**
 * Finds the tasks that have, or should get, an issue or pull request in this repository and that are not done, or were finished in the last day.
 * Those whose last comparison with GitHub is oldest come first.
 */
export async function listOpenWork(em: EntityManager, repositoryId: string): Promise<OpenWork[]> {
  return em.query(
    `select t.id as "taskId", t.status, t.issue_repository_id as "issueRepositoryId", t.issue_number as "issueNumber",
       array(select number from pull_requests p where p.task_id = t.id and p.repository_id = $1
         union select t.issue_number where t.issue_repository_id = $1) as numbers
     from tasks t left join compared c on c.task_id = t.id and c.repository_id = $1
     where (t.issue_repository_id = $1 or (t.wants_issue and t.repository_id = $1)
         or exists (select 1 from pull_requests p where p.task_id = t.id and p.repository_id = $1))
       and (t.status <> 'done' or t.done_at > now() - interval '1 day')
     order by c.compared_at nulls first, t.created_at, t.id`,
    [repositoryId],
  );
}

export async function markCompared(em: EntityManager, repositoryId: string, taskId: string): Promise<void> {
  await em.query(
    `insert into compared (repository_id, task_id, compared_at) select $1, id, now() from tasks where id = $2
     on conflict (repository_id, task_id) do update set compared_at = now()`,
    [repositoryId, taskId],
  );
}

/** Finds the pull requests of a task that may still change. A closed one may be reopened. */
export async function listUnsettledPulls(em: EntityManager, taskId: string, repositoryId: string) {
  return em.findBy(PullRequests, { taskId, repositoryId, status: In(['open', 'draft', 'closed']) });
}

/** Locks the task of an issue until the end of the transaction, even before the issue has a task. */
export async function lockIssue(em: EntityManager, repositoryId: string, number: number): Promise<void> {
  await lockUntilCommit(em, 'issue', `${repositoryId}#${number}`);
}

/** Returns the names of agents by their ids. */
export async function listAgentNames(em: EntityManager, ids: string[]): Promise<Map<string, string>> {
  const rows: { id: string; name: string }[] = await em.query('select id, name from agents where id = any($1)', [ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Stores what the status comment says about the last command: why it was refused, or nothing. */
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

/** Removes what the comments of a task, on its issue and on its pull requests, say about an earlier command. */
export async function clearNotices(em: EntityManager, taskId: string): Promise<void> {
  await em.query(`update mirrored set notice = '' where task_id = $1 and notice <> ''`, [taskId]);
}

export async function wasCommandHandled(em: EntityManager, key: string): Promise<boolean> {
  return (await em.query<unknown[]>('select 1 from handled_commands where key = $1', [key])).length > 0;
}

export async function insertHandledCommand(em: EntityManager, key: string): Promise<void> {
  await insertKey(em, key);
}

/** Notes that a command has a record in the audit log. Returns false if that was noted before. */
export function claimCommandRecord(em: EntityManager, key: string): Promise<boolean> {
  return insertKey(em, `${key} recorded`);
}

async function insertKey(em: EntityManager, key: string): Promise<boolean> {
  const insert = 'insert into handled_commands (key) values ($1) on conflict do nothing returning 1';
  return (await em.query<unknown[]>(insert, [key])).length > 0;
}

export type PullKey = Pick<PullRequestRow, 'repositoryId' | 'number'>;

/** Finds the pull requests of a task that are not merged, in all repositories. */
export async function listUnmergedPulls(em: EntityManager, taskId: string): Promise<PullRequestRow[]> {
  return em.findBy(PullRequests, { taskId, status: Not('merged') });
}

export async function findPull(
  em: EntityManager,
  repositoryId: string,
  number: number,
): Promise<PullRequestRow | null> {
  return em.findOneBy(PullRequests, { repositoryId, number });
}

/**
 * Finds a stored pull request.
 * @throws EntityNotFoundError when it is not stored
 */
export async function getPull(em: EntityManager, repositoryId: string, number: number): Promise<PullRequestRow> {
  return em.findOneByOrFail(PullRequests, { repositoryId, number });
}

/** Locks a pull request's row until the end of the transaction, and returns it. */
export async function lockPull(em: EntityManager, repositoryId: string, number: number): Promise<PullRequestRow> {
  const lock = { mode: 'pessimistic_write' } as const;
  return em.findOneOrFail(PullRequests, { where: { repositoryId, number }, lock });
}

/** Returns whether a commit was not ready in a pull request of the repository. */
export async function isUnreadyCommit(em: EntityManager, repositoryId: string, sha: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    'select 1 from pull_requests where repository_id = $1 and (unready_sha = $2 or unready_before ? $2) limit 1',
    [repositoryId, sha],
  );
  return rows.length > 0;
}

/**
 * Returns whether the check run of a commit may not be green: it is not ready, or was not when it was pushed, in this pull request or in
 * another open one of the repository that has not left it since. GitHub counts the check run of a commit for all its pull requests.
 */
export async function isUnreadyIn(em: EntityManager, { repositoryId, number }: PullKey, sha: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from pull_requests where repository_id = $1 and (unready_sha = $2 or unready_before ? $2)
       and (number = $3 or status in ('open', 'draft') and $2 in (unready_sha, head_sha)) limit 1`,
    [repositoryId, sha, number],
  );
  return rows.length > 0;
}

export async function updatePull(
  em: EntityManager,
  { repositoryId, number }: PullKey,
  seen: Pick<
    PullRequestRow,
    | 'status'
    | 'baseBranch'
    | 'mergedElsewhere'
    | 'headSha'
    | 'headSince'
    | 'unreadySha'
    | 'additions'
    | 'mergedAt'
    | 'counts'
  >,
): Promise<void> {
  await em.update(PullRequests, { repositoryId, number }, seen);
}

/**
 * Counts a reading in which GitHub did not know yet whether a pull request can be merged. Returns how many such
 * readings there were in a row.
 */
export async function countMergeableAsk(db: Database, { repositoryId, number }: PullKey): Promise<number> {
  const [row] = await db.prepared<{ asks: number }>(
    'ask mergeable',
    `update pull_requests set mergeable_asks = mergeable_asks + 1 where repository_id = $1 and number = $2
     returning mergeable_asks as asks`,
    [repositoryId, number],
  );
  return row?.asks ?? Number.POSITIVE_INFINITY;
}

export async function resetMergeableAsks(db: Database, { repositoryId, number }: PullKey): Promise<void> {
  await db.prepared(
    'know mergeable',
    'update pull_requests set mergeable_asks = 0 where repository_id = $1 and number = $2 and mergeable_asks > 0',
    [repositoryId, number],
  );
}

/** Returns the issue and the pull requests that show a task, by number. Inserts missing rows. */
export async function listMirrored(em: EntityManager, taskId: string): Promise<MirroredRow[]> {
  await em.query(
    `insert into mirrored (task_id, repository_id, number)
       select id, issue_repository_id, issue_number from tasks where id = $1 and issue_number is not null
         and issue_repository_id is not null
       union select task_id, repository_id, number from pull_requests where task_id = $1
     on conflict do nothing`,
    [taskId],
  );
  return em.find(Mirrored, { where: { taskId }, order: { number: 'asc' } });
}

import type { EntityManager } from 'typeorm';

/** A sub-issue shows a subtask, an issue dependency shows that a task waits for another one. */
export type LinkKind = 'subtask' | 'dependency';
export const linkKinds: readonly LinkKind[] = ['subtask', 'dependency'];

/** An issue of a connected repository, by GitHub's number. */
export interface IssueKey {
  repositoryId: string;
  number: number;
}

/** A link from a task to another one, and the issue of the other one. */
export interface LinkedTask extends IssueKey {
  kind: LinkKind;
  otherId: string;
}

/** What is known of a link from the last comparison. */
export interface KnownLink {
  kind: LinkKind;
  otherId: string;
  /** Whether both sides had it when they last agreed. */
  isAgreed: boolean;
  /** Why they differ now; null if they agree. */
  problem: string | null;
  /** Whether it is time to try again. */
  isDue: boolean;
}

/** One link as both sides have it. */
export interface Link extends LinkedTask {
  isHere: boolean;
  /** GitHub's id of the other issue, if GitHub has the link. */
  seenId: number | undefined;
  before: KnownLink | undefined;
}

/**
 * Lists the subtasks and dependencies of a task whose issues may be linked with its own. GitHub hides a private issue
 * from people who may not see it, but a link between a private and a public repository is left to people anyway.
 */
export async function listLinked(em: EntityManager, taskId: string): Promise<LinkedTask[]> {
  return em.query(
    `with linked as (
       select 'subtask' as kind, id from tasks where parent_id = $1
       union all select 'dependency', depends_on_id from task_dependencies where task_id = $1)
     select l.kind /* not null */, o.id as "otherId", o.issue_repository_id as "repositoryId" /* not null */,
       o.issue_number as number /* not null */
     from linked l join tasks o on o.id = l.id join repositories r on r.id = o.issue_repository_id
     join tasks t on t.id = $1 join repositories own on own.id = t.issue_repository_id
     where o.issue_number is not null and r.is_private = own.is_private and r.is_installed
     order by o.created_at, o.id`,
    [taskId],
  );
}

/** Finds the tasks that issues on GitHub belong to, with the same limits. */
export async function findLinkable(em: EntityManager, taskId: string, issues: IssueKey[]) {
  const rows: { id: string; repositoryId: string; number: number }[] = await em.query(
    `select o.id, o.issue_repository_id as "repositoryId" /* not null */, o.issue_number as number /* not null */
     from unnest($2::text[], $3::int[]) as seen (repository_id, number)
     join tasks o on o.issue_repository_id = seen.repository_id and o.issue_number = seen.number
     join repositories r on r.id = o.issue_repository_id
     join tasks t on t.id = $1 and t.project_id = o.project_id join repositories own on own.id = t.issue_repository_id
     where r.is_private = own.is_private and r.is_installed and o.id <> t.id`,
    [taskId, issues.map((each) => each.repositoryId), issues.map((each) => each.number)],
  );
  return rows;
}

export async function listKnown(em: EntityManager, taskId: string): Promise<KnownLink[]> {
  return em.query(
    `select kind, other_id as "otherId", is_agreed as "isAgreed", problem, coalesce(again_at <= now(), true) as "isDue"
     from issue_links where task_id = $1 order by kind, other_id`,
    [taskId],
  );
}

/** Returns whether the link of a parent and its subtask was seen on both sides. */
export async function wasAgreed(em: EntityManager, parentId: string, taskId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from issue_links where task_id = $1 and kind = 'subtask' and other_id = $2 and is_agreed`,
    [parentId, taskId],
  );
  return rows.length > 0;
}

/** Stores that both sides have a link, or why they differ. Does nothing if one of the tasks was deleted meanwhile. */
export async function keepLink(
  em: EntityManager,
  taskId: string,
  { kind, otherId, isAgreed }: Pick<KnownLink, 'kind' | 'otherId' | 'isAgreed'>,
  problem: { text: string; againMinutes: number } | null = null,
): Promise<void> {
  await em.query(
    `insert into issue_links (task_id, kind, other_id, is_agreed, problem, again_at)
       select t.id, $2, o.id, $4, $5, case when $5::text is not null then now() + make_interval(mins => $6) end
       from tasks t, tasks o where t.id = $1 and o.id = $3
     on conflict (task_id, kind, other_id) do update
       set is_agreed = excluded.is_agreed, problem = excluded.problem, again_at = excluded.again_at`,
    [taskId, kind, otherId, isAgreed, problem?.text ?? null, problem?.againMinutes ?? 0],
  );
}

export async function forgetLink(
  em: EntityManager,
  taskId: string,
  { kind, otherId }: Pick<KnownLink, 'kind' | 'otherId'>,
): Promise<void> {
  await em.query('delete from issue_links where task_id = $1 and kind = $2 and other_id = $3', [taskId, kind, otherId]);
}

/** Lists the tasks that have links to a task: its parent, and those that wait for it. */
export async function listOwnersOfLinks(em: EntityManager, taskId: string): Promise<string[]> {
  const rows: { id: string }[] = await em.query(
    `select parent_id as id /* not null */ from tasks where id = $1 and parent_id is not null
     union select task_id from task_dependencies where depends_on_id = $1`,
    [taskId],
  );
  return rows.map(({ id }) => id);
}

/** Returns whether the GitHub of an installation did not have links of a kind during the last day. */
export async function isMissing(em: EntityManager, installationId: number, kind: LinkKind): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from missing_on_host where installation_id = $1 and kind = $2 and at > now() - interval '1 day'`,
    [installationId, kind],
  );
  return rows.length > 0;
}

export async function noteMissing(em: EntityManager, installationId: number, kind: LinkKind): Promise<void> {
  await em.query(
    `insert into missing_on_host (installation_id, kind, at) values ($1, $2, now())
     on conflict (installation_id, kind) do update set at = now()`,
    [installationId, kind],
  );
}

/** Returns whether a task has links that GitHub may show, or had some when they were compared. */
export async function mayHaveLinks(em: EntityManager, taskId: string): Promise<boolean> {
  return (await listLinked(em, taskId)).length > 0 || (await listKnown(em, taskId)).length > 0;
}

import type { EntityManager } from 'typeorm';
import { type InstallationRow, Installations, type RepositoryRow } from '../db/tables.ts';
import type { PullRequestRow } from '../db/work-tables.ts';
import { repositoryColumns } from '../repositories/store.ts';

/** Stores a delivery; false when its GUID was seen before. */
export async function insertDelivery(
  em: EntityManager,
  delivery: { guid: string; event: string; signature: string; payload: string },
): Promise<boolean> {
  const rows = await em.query(
    `insert into deliveries (guid, event, signature, payload) values ($1, $2, $3, $4) on conflict do nothing returning guid`,
    [delivery.guid, delivery.event, delivery.signature, delivery.payload],
  );
  return rows.length === 1;
}

export async function findUnhandledDelivery(em: EntityManager, guid: string) {
  const rows: { event: string; payload: string }[] = await em.query(
    'select event, payload from deliveries where guid = $1 and handled_at is null',
    [guid],
  );
  return rows[0];
}

export async function markHandled(em: EntityManager, guid: string): Promise<void> {
  await em.query('update deliveries set handled_at = now() where guid = $1', [guid]);
}

/** Deliveries whose job got lost; GitHub would not send them again by itself. */
export async function listForgottenDeliveries(em: EntityManager): Promise<string[]> {
  const rows: { guid: string }[] = await em.query(
    `select guid from deliveries where handled_at is null
       and received_at between now() - interval '3 days' and now() - interval '10 minutes' order by received_at limit 500`,
  );
  return rows.map((r) => r.guid);
}

export async function deleteOldDeliveries(em: EntityManager): Promise<void> {
  await em.query(`delete from deliveries where received_at < now() - interval '30 days'`);
}

export async function wasCommandHandled(em: EntityManager, key: string): Promise<boolean> {
  return (await em.query('select 1 from handled_commands where key = $1', [key])).length > 0;
}

export async function insertHandledCommand(em: EntityManager, key: string): Promise<void> {
  await em.query('insert into handled_commands (key) values ($1) on conflict do nothing', [key]);
}

export async function findInstallation(em: EntityManager, installationId: number): Promise<InstallationRow | null> {
  return em.findOneBy(Installations, { installationId });
}

export async function listActiveInstallations(em: EntityManager): Promise<InstallationRow[]> {
  return em.findBy(Installations, { status: 'active' });
}

/** The repository of the project that an installation serves, by GitHub's number. */
export async function findInstalledRepository(em: EntityManager, installationId: number, githubId: number) {
  const rows: RepositoryRow[] = await em.query(
    `select ${repositoryColumns} from repositories r join installations i on i.project_id = r.project_id
     where i.installation_id = $1 and i.status = 'active' and r.github_id = $2 and r.is_installed`,
    [installationId, githubId],
  );
  return rows[0];
}

/** The task of an issue. */
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

/** Stored pull requests of a repository on GitHub, in whichever project they are. */
export async function findPullsByGitHub(em: EntityManager, githubId: number, number: number) {
  const rows: (PullRequestRow & { projectId: string })[] = await em.query(
    `select p.task_id as "taskId", p.repository_id as "repositoryId", p.number, p.url, p.status,
       p.head_branch as "headBranch", p.head_sha as "headSha", r.project_id as "projectId"
     from pull_requests p join repositories r on r.id = p.repository_id
     where r.github_id = $1 and p.number = $2`,
    [githubId, number],
  );
  return rows;
}

/** One issue or pull request that shows a task. */
export interface Mirrored {
  taskId: string;
  repositoryId: string;
  number: number;
  commentId: number | null;
  shown: string | null;
  shownAt: Date | null;
  notice: string;
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
       shown_at as "shownAt", notice
     from mirrored where task_id = $1 order by number`,
    [taskId],
  );
}

export async function markShown(
  em: EntityManager,
  place: Mirrored,
  shown: { commentId: number | null; shown: string },
) {
  await em.query(
    `update mirrored set comment_id = $3, shown = $4, shown_at = now() where repository_id = $1 and number = $2`,
    [place.repositoryId, place.number, shown.commentId, shown.shown],
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

export interface SignIn {
  stateDigest: string;
  browserDigest: string;
  verifier: string;
  returnTo: string;
}

export async function insertSignIn(em: EntityManager, begun: SignIn): Promise<void> {
  await em.query(`delete from sign_ins where created_at < now() - interval '1 hour'`);
  await em.query('insert into sign_ins (state_digest, browser_digest, verifier, return_to) values ($1, $2, $3, $4)', [
    begun.stateDigest,
    begun.browserDigest,
    begun.verifier,
    begun.returnTo,
  ]);
}

/** Takes a sign-in out, so that it is finished at most once; undefined when it is unknown or too old. */
export async function takeSignIn(
  em: EntityManager,
  stateDigest: string,
  maxAgeMs: number,
): Promise<SignIn | undefined> {
  const [rows]: [(SignIn & { isFresh: boolean })[]] = await em.query(
    `delete from sign_ins where state_digest = $1
     returning state_digest as "stateDigest", browser_digest as "browserDigest", verifier, return_to as "returnTo",
       created_at > now() - make_interval(secs => $2) as "isFresh"`,
    [stateDigest, maxAgeMs / 1000],
  );
  return rows[0]?.isFresh ? rows[0] : undefined;
}

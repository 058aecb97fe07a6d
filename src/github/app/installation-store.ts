import { type EntityManager, Not } from 'typeorm';
import { lockUntilCommit } from '../../db/locks.ts';
import { type InstallationRow, type InstallationStatus, Installations } from '../../db/tables/github.ts';
import { Repositories, type RepositoryRow } from '../../db/tables/project.ts';
import { liveRun } from '../../db/tables/run.ts';

/** Locks the installation of an account until the end of the transaction, even before the installation has a row. */
export async function lockAccount(em: EntityManager, accountId: number): Promise<void> {
  await lockUntilCommit(em, 'account', `installation ${accountId}`);
}

export async function findInstallationOfAccount(em: EntityManager, accountId: number): Promise<InstallationRow | null> {
  return em.findOneBy(Installations, { accountId });
}

type SeenInstallation = Omit<InstallationRow, 'problem' | 'problemReason' | 'problemSince'>;

/** Stores the installation of an account. */
export async function saveInstallation(em: EntityManager, row: SeenInstallation): Promise<void> {
  // Logins are unique here, but GitHub lets accounts exchange them. Another account that is stored under this login has
  // a different one now, so it gets a placeholder until its own next comparison with GitHub.
  await em.query(
    `update installations set account_login = account_login || '~' || account_id
     where lower(account_login) = lower($1) and account_id <> $2`,
    [row.accountLogin, row.accountId],
  );
  await em.upsert(Installations, row, ['accountId']);
}

export async function updateInstallationStatus(
  em: EntityManager,
  accountId: number,
  status: InstallationStatus,
): Promise<void> {
  await em.update(Installations, { accountId, status: Not(status) }, { status, updatedAt: new Date() });
}

/** Stores what keeps an installation from working; undefined when nothing does. A problem keeps its first time. */
export async function setProblem(
  em: EntityManager,
  accountId: number,
  problem: { kind: NonNullable<InstallationRow['problem']>; reason: string } | undefined,
): Promise<void> {
  await em.query(
    `update installations set problem = $2, problem_reason = $3,
       problem_since = case when $2::text is null then null when problem = $2 then problem_since else now() end
     where account_id = $1 and (problem, problem_reason) is distinct from ($2::text, $3::text)`,
    [accountId, problem?.kind ?? null, problem?.reason ?? null],
  );
}

export async function findByGitHubId(
  em: EntityManager,
  projectId: string,
  githubId: number,
): Promise<RepositoryRow | null> {
  return em.findOneBy(Repositories, { projectId, githubId });
}

/** Stores what GitHub says about a repository. */
export async function storeSeen(
  em: EntityManager,
  id: string,
  seen: Pick<RepositoryRow, 'isPrivate' | 'isArchived' | 'isInstalled' | 'githubId' | 'url'>,
): Promise<void> {
  await em.update(Repositories, { id }, seen);
}

/**
 * Gives placeholder addresses to the project's repositories whose stored address now belongs to another repository on
 * GitHub. This makes room for two repositories that swapped names, and for a new one with a deleted one's name.
 */
export async function setMovedAside(
  em: EntityManager,
  projectId: string,
  found: { githubId: number; url: string }[],
): Promise<void> {
  await em.query(
    `update repositories r set url = r.url || '/replaced/' || r.id
     from unnest($2::bigint[], $3::text[]) as now (github_id, url)
     where r.project_id = $1 and (r.github_id = now.github_id) <> (lower(r.url) = lower(now.url))`,
    [projectId, found.map((r) => r.githubId), found.map((r) => r.url)],
  );
}

/** Returns whether the project has a repository of that name, ignoring letter case. */
export async function isNameTaken(em: EntityManager, projectId: string, name: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    'select 1 from repositories where project_id = $1 and lower(name) = lower($2)',
    [projectId, name],
  );
  return rows.length > 0;
}

/** Marks the project's repositories that the installation no longer covers. Returns the ids of those repositories. */
export async function markUninstalled(em: EntityManager, projectId: string, covered: number[]): Promise<string[]> {
  const [rows]: [{ id: string }[]] = await em.query(
    `update repositories set is_installed = false
     where project_id = $1 and is_installed and not (github_id = any($2)) returning id`,
    [projectId, covered],
  );
  return rows.map((r) => r.id);
}

/**
 * Changes the stored default branch of a repository from `before` to `now`. A branch that somebody chose here in place
 * of `before` is kept.
 */
export async function followDefaultBranch(
  em: EntityManager,
  { projectId, githubId, before, now }: { projectId: string; githubId: number; before: string; now: string },
): Promise<void> {
  await em.update(Repositories, { projectId, githubId, defaultBranch: before }, { defaultBranch: now });
}

/** Returns the ids of the tasks in these repositories that have a live run. */
export async function listTasksWithLiveRuns(em: EntityManager, repositoryIds: string[]): Promise<string[]> {
  const tasks: { taskId: string }[] = await em.query(
    `select r.task_id as "taskId" from runs r join tasks t on t.id = r.task_id
     where t.repository_id = any($1) and r.status in ${liveRun}`,
    [repositoryIds],
  );
  return tasks.map((t) => t.taskId);
}

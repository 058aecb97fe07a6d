import { type EntityManager, In, IsNull } from 'typeorm';
import { SecretRepositories } from '../db/tables/environment.ts';
import { type InstallationRow, Installations } from '../db/tables/github.ts';
import { Repositories, type RepositoryRow } from '../db/tables/project.ts';
import { liveRun } from '../db/tables/run.ts';

export const repositoryColumns = `r.id, r.project_id as "projectId", r.name, r.url, r.default_branch as "defaultBranch",
  r.is_primary as "isPrimary", r.is_docs_repo as "isDocsRepo", r.is_private as "isPrivate",
  r.is_installed as "isInstalled", r.is_archived as "isArchived", r.github_id::float8 as "githubId",
  r.connected_by as "connectedBy", r.created_at as "createdAt"`;

/** The steps with which a run records the repositories whose content it has. Copied with its conversation. */
export const openedPrefix = 'opened ';

export async function insertRepository(
  em: EntityManager,
  row: Omit<RepositoryRow, 'createdAt'>,
): Promise<RepositoryRow> {
  await em.insert(Repositories, row);
  return getRepository(em, row.id);
}

export async function getRepository(em: EntityManager, id: string): Promise<RepositoryRow> {
  return em.findOneByOrFail(Repositories, { id });
}

/** Locks a repository and its project until the transaction ends, and returns the repository as it is then. */
export async function lockRepository(
  em: EntityManager,
  { id, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
): Promise<RepositoryRow> {
  // The comparison with GitHub locks the project first, too.
  await lockProjectRow(em, projectId);
  return em.findOneOrFail(Repositories, { where: { id }, lock: { mode: 'pessimistic_write' } });
}

/** Changes the fields that are given. */
export async function updateRepositoryRow(
  em: EntityManager,
  id: string,
  change: Partial<RepositoryRow>,
): Promise<void> {
  if (Object.keys(change).length > 0) await em.update(Repositories, { id }, change);
}

/** Stores a repository's number on GitHub, unless it has one, or its URL has changed. */
export async function setGitHubId(
  em: EntityManager,
  { id, url }: Pick<RepositoryRow, 'id' | 'url'>,
  githubId: number,
): Promise<void> {
  await em.update(Repositories, { id, url, githubId: IsNull() }, { githubId });
}

/** Stores whether a repository is private, unless its URL has changed. */
export async function setPrivate(
  em: EntityManager,
  { id, url }: Pick<RepositoryRow, 'id' | 'url'>,
  isPrivate: boolean,
): Promise<void> {
  await em.update(Repositories, { id, url }, { isPrivate });
}

/** Returns whether environment secrets belong to a repository. */
export function hasSecrets(
  em: EntityManager,
  { id, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
): Promise<boolean> {
  return em.existsBy(SecretRepositories, { projectId, repositoryId: id });
}

/** Takes the environment secrets and the MCP servers away from a repository. They stay in the project. */
export async function forgetSecretsOf(
  em: EntityManager,
  { id, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
): Promise<void> {
  await em.delete(SecretRepositories, { repositoryId: id });
  // A server without chosen repositories would belong to the only one, whatever that is now.
  await em.query(
    `update mcp_servers set repositories = coalesce(repositories, '[]'::jsonb) - $2::text where project_id = $1`,
    [projectId, id],
  );
}

/** Returns whether runs in a repository may use headers that an admin gave to MCP servers. */
export async function hasServers(
  em: EntityManager,
  { id, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from mcp_servers where project_id = $1 and (repositories is null or repositories ? $2) limit 1`,
    [projectId, id],
  );
  return rows.length > 0;
}

export async function deleteRepositoryRow(em: EntityManager, id: string): Promise<void> {
  await em.delete(Repositories, { id });
}

/** Locks a project, so that only one of several repositories connected at the same time counts as the first. */
export async function lockProjectRow(em: EntityManager, projectId: string): Promise<void> {
  await em.query('select 1 from projects where id = $1 for no key update', [projectId]);
}

/** Clears the given flags in a project, before another repository gets them. */
export async function clearFlags(em: EntityManager, projectId: string, flags: { primary: boolean; docs: boolean }) {
  await lockProjectRow(em, projectId);
  if (flags.primary) await em.update(Repositories, { projectId, isPrimary: true }, { isPrimary: false });
  if (flags.docs) await em.update(Repositories, { projectId, isDocsRepo: true }, { isDocsRepo: false });
}

export async function hasRepositories(em: EntityManager, projectId: string): Promise<boolean> {
  return em.existsBy(Repositories, { projectId });
}

/** Returns the repositories of a project, oldest first. */
export async function listProjectRepositories(em: EntityManager, projectId: string): Promise<RepositoryRow[]> {
  return em.find(Repositories, { where: { projectId }, order: { createdAt: 'ASC', id: 'ASC' } });
}

/** Returns the repositories of a project, or of all projects of the user if the project is null. Oldest first. */
export async function listRepositories(
  em: EntityManager,
  userId: string,
  projectId: string | null,
): Promise<RepositoryRow[]> {
  return em.query(
    `select ${repositoryColumns} from repositories r
     join members m on m.project_id = r.project_id and m.user_id = $1
     where $2::text is null or r.project_id = $2
     order by r.created_at, r.id`,
    [userId, projectId],
  );
}

export async function findRepository(em: EntityManager, id: string): Promise<RepositoryRow | null> {
  return em.findOneBy(Repositories, { id });
}

export async function listRepositoriesById(em: EntityManager, ids: string[]): Promise<RepositoryRow[]> {
  return em.findBy(Repositories, { id: In(ids) });
}

export async function findPrimary(em: EntityManager, projectId: string): Promise<RepositoryRow | null> {
  return em.findOneBy(Repositories, { projectId, isPrimary: true });
}

/** Finds the repository of a project with this URL, ignoring case. */
export async function findByUrl(em: EntityManager, projectId: string, url: string): Promise<RepositoryRow | undefined> {
  const rows: RepositoryRow[] = await em.query(
    `select ${repositoryColumns} from repositories r where r.project_id = $1 and lower(r.url) = lower($2)`,
    [projectId, url],
  );
  return rows[0];
}

/** Finds the active installation of the App on an account. */
export async function findActiveInstallation(em: EntityManager, accountLogin: string): Promise<InstallationRow | null> {
  return em
    .createQueryBuilder(Installations, 'i')
    .where('lower(i.accountLogin) = lower(:accountLogin)', { accountLogin })
    .andWhere(`i.status = 'active'`)
    .getOne();
}

export async function findDocs(em: EntityManager, projectId: string): Promise<RepositoryRow | null> {
  return em.findOneBy(Repositories, { projectId, isDocsRepo: true });
}

/**
 * Returns how tasks use a repository: one of their branches, whether a run is live, whether a pull request is open, and
 * whether a run of another repository's task has read it.
 */
export async function findUses(em: EntityManager, repositoryId: string) {
  const [row]: { branch: string | null; live: boolean; open: boolean; read: boolean }[] = await em.query(
    `select (select t.branch_name from tasks t where t.repository_id = $1 and t.branch_name is not null limit 1) as branch,
       exists (select 1 from runs r join tasks t on t.id = r.task_id
         where t.repository_id = $1 and r.status in ${liveRun}) as live,
       exists (select 1 from pull_requests p where p.repository_id = $1 and p.status in ('open', 'draft')) as open,
       exists (select 1 from runs r join run_steps s on s.run_id = r.id and s.name = $2 || $1
         where r.project_id = (select project_id from repositories where id = $1)) as read`,
    [repositoryId, openedPrefix],
  );
  return row ?? { branch: null, live: false, open: false, read: false };
}

/**
 * Returns whether another project knows a repository as private. Events reach the project of the installation only, so the others may
 * not have heard yet that a public repository has become private.
 */
export async function isPrivateElsewhere(
  em: EntityManager,
  { githubId }: Pick<RepositoryRow, 'githubId'>,
): Promise<boolean> {
  const rows: unknown[] = await em.query('select from repositories where github_id = $1 and is_private limit 1', [
    githubId,
  ]);
  return rows.length > 0;
}

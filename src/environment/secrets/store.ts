import type { EntityManager } from 'typeorm';
import { type Sealed, type SecretPlace, sealedExtra } from '../../db/sealed.ts';
import { type EnvironmentSecretRow, EnvironmentSecrets, SecretRepositories } from '../../db/tables/environment.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';

type Place = Pick<EnvironmentSecretRow, 'projectId' | 'name'>;

/** Returns the place that a secret's value is bound to. Its ciphertext cannot be decrypted in another row. */
export function placeOf({ projectId, name }: Place): SecretPlace {
  return { table: 'environment_secrets', row: `${projectId}/${name}`, column: 'ciphertext', project: projectId };
}

/** A secret as members see it. */
export interface SecretView {
  name: string;
  createdAt: Date;
  /** The ids of the repositories that it belongs to, oldest repository first. */
  repositories: string[];
  hosts: string[];
}

/** Returns the environment secrets of a project, by name, without their values. */
export function listSecrets(em: EntityManager, projectId: string): Promise<SecretView[]> {
  return em.query(
    `select s.name, s.created_at as "createdAt", s.hosts, array(
       select r.id from environment_secret_repositories a join repositories r on r.id = a.repository_id
       where a.project_id = s.project_id and a.name = s.name order by r.created_at, r.id) as repositories
     from environment_secrets s where s.project_id = $1 order by s.name`,
    [projectId],
  );
}

/** Returns the sizes of the values of a project's environment secrets in bytes, by their names. */
export async function listSecretSizes(em: EntityManager, projectId: string): Promise<Map<string, number>> {
  const rows: { name: string; bytes: number }[] = await em.query(
    'select name, octet_length(ciphertext) - $2::int as bytes from environment_secrets where project_id = $1',
    [projectId, sealedExtra],
  );
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Returns all environment secrets of a project. */
export function listSecretRows(em: EntityManager, projectId: string): Promise<EnvironmentSecretRow[]> {
  return em.find(EnvironmentSecrets, { where: { projectId }, order: { name: 'ASC' } });
}

type OfRepository = Pick<RepositoryRow, 'id' | 'projectId'>;

/** Returns the environment secrets that belong to a repository. */
export function listSecretRowsOf(em: EntityManager, { id, projectId }: OfRepository): Promise<EnvironmentSecretRow[]> {
  return em
    .createQueryBuilder(EnvironmentSecrets, 's')
    .innerJoin(SecretRepositories.options.name, 'a', 'a.projectId = s.projectId and a.name = s.name')
    .where('s.projectId = :projectId and a.repositoryId = :id', { projectId, id })
    .orderBy('s.name')
    .getMany();
}

/** The secrets of a project that belong to no repository. */
export interface UnassignedSecrets {
  projectId: string;
  names: string[];
}

/** Returns the secrets that belong to no repository, in all projects that a user can administer. */
export function listUnassigned(em: EntityManager, userId: string): Promise<UnassignedSecrets[]> {
  return em.query(
    `select s.project_id as "projectId", array_agg(s.name order by s.name) as names
     from members m join environment_secrets s on s.project_id = m.project_id
     where m.user_id = $1 and m.role in ('admin', 'owner') and not exists (
       select 1 from environment_secret_repositories a where a.project_id = s.project_id and a.name = s.name)
     group by s.project_id order by s.project_id`,
    [userId],
  );
}

/** Counts the secrets of all projects that belong to no repository. */
export async function countUnassigned(em: EntityManager): Promise<number> {
  const [{ count }]: [{ count: number }] = await em.query(
    `select count(*)::int as count from environment_secrets s where not exists (
       select 1 from environment_secret_repositories a where a.project_id = s.project_id and a.name = s.name)`,
  );
  return count;
}

/** Inserts a secret, or replaces it. `createdAt` stays when it is replaced. */
export async function upsertSecret(
  em: EntityManager,
  row: Omit<EnvironmentSecretRow, 'createdAt'>,
  repositoryIds: string[],
): Promise<void> {
  const { projectId, name } = row;
  await em.upsert(EnvironmentSecrets, row, ['projectId', 'name']);
  await em.delete(SecretRepositories, { projectId, name });
  await em.insert(
    SecretRepositories,
    repositoryIds.map((repositoryId) => ({ projectId, name, repositoryId })),
  );
}

/** Deletes a secret. Returns false when there was none. */
export async function deleteSecret(em: EntityManager, { projectId, name }: Place): Promise<boolean> {
  const { affected } = await em.delete(EnvironmentSecrets, { projectId, name });
  return affected === 1;
}

export function listSecretPlaces(em: EntityManager): Promise<Place[]> {
  return em.find(EnvironmentSecrets, { select: { projectId: true, name: true } });
}

/** Locks a secret until the end of the transaction. Returns null when it was removed. */
export function lockSecret(em: EntityManager, { projectId, name }: Place): Promise<EnvironmentSecretRow | null> {
  return em.findOne(EnvironmentSecrets, { where: { projectId, name }, lock: { mode: 'pessimistic_write' } });
}

/** Stores the same value under another key. Its version stays. */
export async function resealSecret(em: EntityManager, { projectId, name }: Place, sealed: Sealed): Promise<void> {
  await em.update(EnvironmentSecrets, { projectId, name }, sealed);
}

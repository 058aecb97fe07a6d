import type { EntityManager } from 'typeorm';
import type { Sealed, SecretPlace } from '../../db/secret-box.ts';
import { type EnvironmentSecretRow, EnvironmentSecrets } from '../../db/tables/environment.ts';

type Place = Pick<EnvironmentSecretRow, 'projectId' | 'name'>;

/** Returns the place that a secret's value is bound to. Its ciphertext cannot be decrypted in another row. */
export function placeOf({ projectId, name }: Place): SecretPlace {
  return { table: 'environment_secrets', row: `${projectId}/${name}`, column: 'ciphertext', project: projectId };
}

/** Returns the environment secrets of a project, by name. */
export function listSecrets(em: EntityManager, projectId: string): Promise<EnvironmentSecretRow[]> {
  return em.find(EnvironmentSecrets, { where: { projectId }, order: { name: 'ASC' } });
}

/** Inserts a secret, or replaces its value. `createdAt` stays when the value is replaced. */
export async function upsertSecret(em: EntityManager, row: Omit<EnvironmentSecretRow, 'createdAt'>): Promise<void> {
  await em.upsert(EnvironmentSecrets, row, ['projectId', 'name']);
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

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { deleteCollisions } from './store.ts';

/**
 * Forgets the collisions of a pull request, because it was pushed or settled. Unless it is settled, they are looked for again in a
 * job: a clone may take minutes.
 */
export async function collisionsChanged(
  app: App,
  em: EntityManager,
  { repositoryId, number }: { repositoryId: string; number: number },
  isSettled: boolean,
): Promise<void> {
  await deleteCollisions(em, { repositoryId, number });
  if (!isSettled) await lookForCollisions(app, em, { repositoryId, number });
}

/** Queues the job that looks for the collisions of a pull request. */
export async function lookForCollisions(
  app: App,
  em: EntityManager | undefined,
  { repositoryId, number }: { repositoryId: string; number: number },
): Promise<void> {
  await app.queue.send(em, 'collisions', { repositoryId, number }, { key: `${repositoryId}#${number}` });
}

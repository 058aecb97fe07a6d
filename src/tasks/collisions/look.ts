import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { Jobs } from '../../queue/names.ts';
import { deleteCollisions } from './store.ts';

/**
 * Forgets the collisions of a pull request, because it was pushed or settled. Unless it is settled, they are looked for again in a
 * job: a clone may take minutes.
 */
export async function collisionsChanged(
  app: App,
  em: EntityManager,
  of: Jobs['collisions'],
  isSettled: boolean,
): Promise<void> {
  await deleteCollisions(em, of);
  if (!isSettled) await lookForCollisions(app, em, of);
}

/** Queues the job that looks for the collisions of a pull request. A stranger's job may wait for an hour, so it has a key of its own. */
export async function lookForCollisions(
  app: App,
  em: EntityManager | undefined,
  of: Jobs['collisions'],
): Promise<void> {
  const key = `${of.repositoryId}#${of.number}${of.isOfStranger ? ' of a stranger' : ''}`;
  await app.queue.send(em, 'collisions', of, { key });
}

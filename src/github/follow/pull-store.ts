import { type EntityManager, Not } from 'typeorm';
import type { Database } from '../../db/database.ts';
import { type PullRequestRow, PullRequests } from '../../db/tables/task.ts';

type PullKey = Pick<PullRequestRow, 'repositoryId' | 'number'>;

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

export async function updatePull(
  em: EntityManager,
  { repositoryId, number }: PullKey,
  seen: Pick<PullRequestRow, 'status' | 'headSha' | 'unreadySha' | 'additions' | 'mergedAt' | 'counts'>,
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

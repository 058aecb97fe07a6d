import type { EntityManager } from 'typeorm';
import type { Leftover } from '../../tasks/leftovers.ts';

type Key = Pick<Leftover, 'taskId' | 'repositoryId' | 'number'>;

const columns = `task_id as "taskId", repository_id as "repositoryId", number, branch, comment_id::float8 as "commentId", milestone`;

export async function findLeftover(
  em: EntityManager,
  { taskId, repositoryId, number }: Key,
): Promise<Leftover | undefined> {
  const rows: Leftover[] = await em.query(
    `select ${columns} from leftovers where task_id = $1 and repository_id = $2 and number = $3`,
    [taskId, repositoryId, number],
  );
  return rows[0];
}

export async function deleteLeftover(em: EntityManager, { taskId, repositoryId, number }: Key): Promise<void> {
  await em.query('delete from leftovers where task_id = $1 and repository_id = $2 and number = $3', [
    taskId,
    repositoryId,
    number,
  ]);
}

/** Returns leftovers whose jobs may have given up, oldest first. */
export async function listOldLeftovers(em: EntityManager, limit: number): Promise<Leftover[]> {
  return em.query(
    `select ${columns} from leftovers where at < now() - interval '10 minutes' order by at, task_id, number limit $1`,
    [limit],
  );
}

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';

/**
 * Limit for our changes to comments and labels of one issue in ten minutes. Beyond it, a person or another bot is
 * probably reverting each of our changes.
 */
const mostWrites = 20;

const pauseSeconds = 600;

/**
 * Counts a change that we made to a comment or label. Too many trip the circuit breaker of that issue, which pauses our
 * changes for ten minutes. Returns the updated row.
 */
export async function noteWrite(app: App, em: EntityManager, mirrored: MirroredRow): Promise<MirroredRow> {
  if ((await countWrite(em, mirrored)) <= mostWrites) return mirrored;
  const { taskId, number } = mirrored;
  app.metrics.breakers.inc();
  app.log.warn({ taskId, number }, 'too many changes on one issue; paused for ten minutes');
  const trippedUntil = new Date(Date.now() + pauseSeconds * 1000);
  await tripBreaker(em, mirrored, trippedUntil);
  // The first job explains the pause in the comment now. The second continues the changes when the pause is over.
  await app.queue.send(undefined, 'mirror', { taskId, recheck: true }, { key: `${taskId} tripped` });
  await app.queue.send(
    undefined,
    'mirror',
    { taskId, recheck: true },
    { key: `${taskId} over`, afterSeconds: pauseSeconds + 5 },
  );
  return { ...mirrored, trippedUntil };
}

export function isTripped({ trippedUntil }: MirroredRow): boolean {
  return trippedUntil !== null && trippedUntil > new Date();
}

/** Counts one change that we made to a comment or label. Returns the number of such changes in the last ten minutes. */
async function countWrite(em: EntityManager, mirrored: MirroredRow): Promise<number> {
  await em.query(`delete from mirror_writes where at < now() - interval '10 minutes' and repository_id = $1`, [
    mirrored.repositoryId,
  ]);
  await em.query('insert into mirror_writes (repository_id, number) values ($1, $2)', [
    mirrored.repositoryId,
    mirrored.number,
  ]);
  const [row]: [{ count: number }] = await em.query(
    'select count(*)::int as count from mirror_writes where repository_id = $1 and number = $2',
    [mirrored.repositoryId, mirrored.number],
  );
  return row.count;
}

async function tripBreaker(em: EntityManager, mirrored: MirroredRow, until: Date): Promise<void> {
  await em.query('update mirrored set tripped_until = $3 where repository_id = $1 and number = $2', [
    mirrored.repositoryId,
    mirrored.number,
    until,
  ]);
}

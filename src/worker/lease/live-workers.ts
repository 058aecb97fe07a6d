import type { App } from '../../app.ts';
import { isGone } from '../../db/presence.ts';

/**
 * Notes how many runs this process works on at the same time, and forgets the processes that have ended. A claim counts
 * the slots of all workers. Call it before the first claim, and again and again: a process that lost its connection has
 * another name.
 */
export async function noteWorker(app: App): Promise<void> {
  const em = app.db.manager;
  const name = await app.db.presence();
  await em.query(`delete from workers where ${isGone('id')}`);
  await em.query('insert into workers (id, slots) values ($1, $2) on conflict (id) do nothing', [
    name,
    app.config.MAX_CONCURRENT_RUNS,
  ]);
}

import type { EntityManager } from 'typeorm';

/**
 * Returns the database's time. Times that other processes compare with theirs come from it, because the clocks of machines
 * differ: a worker whose clock is ahead would otherwise do what is due later, or hide from others what happens until then.
 */
export async function databaseTime(em: EntityManager): Promise<Date> {
  const [{ now }]: [{ now: Date }] = await em.query('select clock_timestamp() as now');
  return now;
}

import type { App } from '../app.ts';
import { isDatabaseAway } from '../db/database.ts';

/**
 * Does work for each of several installations, repositories or other tenants, one after the other. What fails for one is
 * logged with `about`, and does not stop the work for the others.
 * @throws the error of a database that is away, because it concerns all of them
 */
export async function eachApart<T>(
  app: App,
  items: Iterable<T>,
  about: (item: T) => object,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (const item of items)
    try {
      await work(item);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      app.log.warn({ err: error, ...about(item) }, 'work for one of several failed; the others go on');
    }
}

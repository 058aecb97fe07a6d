import type { App } from '../app.ts';
import { isDatabaseAway } from '../db/database.ts';

/**
 * Does work for each of several installations, repositories or other tenants: one after the other, or `atOnce` of them
 * at the same time. What fails for one is logged with `about`, and does not stop the work for the others.
 * @throws the error of a database that is away, because it concerns all of them
 */
export async function eachApart<T>(
  app: App,
  items: Iterable<T>,
  about: (item: T) => object,
  work: (item: T) => Promise<unknown>,
  atOnce = 1,
): Promise<void> {
  const waiting = [...items].values();
  const workThrough = async () => {
    for (const item of waiting)
      try {
        await work(item);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        app.log.warn({ err: error, ...about(item) }, 'work for one of several failed; the others go on');
      }
  };
  await Promise.all(Array.from({ length: atOnce }, workThrough));
}

/**
 * Does work for each of several items in a job that is retried: what fails for one does not stop the work for the others.
 * @throws the first error, when all items have had their turn; the error of a database that is away, at once
 */
export async function eachThenFail<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items)
    try {
      await work(item);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
}

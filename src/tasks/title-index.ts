import type { EntityManager } from 'typeorm';

/** The statements that an administrator of the database runs if the migration was not permitted to. */
export const titleIndex =
  'create extension pg_trgm; ' +
  'create index tasks_title on tasks using gin (lower(title) gin_trgm_ops) with (fastupdate = off)';

/** Returns whether searching titles uses an index. It needs the extension pg_trgm, which some servers do not permit. */
export async function hasTitleIndex(em: EntityManager): Promise<boolean> {
  const [row] = await em.query(`select to_regclass('tasks_title') is not null as "hasIndex"`);
  return row.hasIndex;
}

import type { EntityManager } from 'typeorm';

/** A step of a plan, with what PostgreSQL counted while it ran. */
interface Step {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Step[];
}

/** Returns how many rows of each table the statements of a store function read, those included that it drops. */
export async function rowsRead(
  manager: EntityManager,
  ask: (em: EntityManager) => Promise<unknown>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const count = (step: Step) => {
    const { 'Relation Name': table, 'Actual Rows': rows, 'Actual Loops': loops } = step;
    // PostgreSQL shows averages of all loops.
    const dropped = (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Index Recheck'] ?? 0);
    if (table !== undefined) counts[table] = (counts[table] ?? 0) + Math.round((rows + dropped) * loops);
    for (const part of step.Plans ?? []) count(part);
  };
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const [row] = await manager.query(`explain (analyze, timing off, format json) ${text}`, values);
      count(row['QUERY PLAN'][0].Plan);
      // TypeORM returns [rows, count] for an update. What follows a read may depend on its rows.
      return /^\s*(update|with was as)\b/.test(text) ? [[], 0] : manager.query(text, values);
    },
  };
  await ask(explaining as unknown as EntityManager);
  return counts;
}

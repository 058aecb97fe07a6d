import type { EntityManager } from 'typeorm';

/** A table with its indexes and its large values. */
export interface TableSize {
  name: string;
  bytes: number;
  /** As PostgreSQL estimates it. */
  rows: number;
  /** Rows inserted and not deleted again, a day on average since `countedSince`. */
  rowsPerDay: number;
}

/** Returns the largest tables of the service and its queue, and since when PostgreSQL has counted their changes. */
export async function readStorage(
  em: EntityManager,
  most: number,
): Promise<{ countedSince: Date; tables: TableSize[] }> {
  const [{ countedSince }]: [{ countedSince: Date }] = await em.query(
    // PostgreSQL does not say when a database was made. The first user is made by its first token or sign-in.
    `select coalesce((select stats_reset from pg_stat_database where datname = current_database()),
       (select min(created_at) from users), pg_postmaster_start_time()) as "countedSince" /* not null */`,
  );
  const tables: TableSize[] = await em.query(
    `select case s.schemaname when 'public' then s.relname else s.schemaname || '.' || s.relname end as name /* not null */,
       pg_total_relation_size(s.relid)::float8 as bytes /* not null */, greatest(c.reltuples, 0)::float8 as rows /* not null */,
       ((s.n_tup_ins - s.n_tup_del) / greatest(extract(epoch from now() - $1::timestamptz) / 86400, 0.01))::float8
         as "rowsPerDay" /* not null */
     from pg_stat_user_tables s join pg_class c on c.oid = s.relid
     order by 2 desc, 1 limit $2`,
    [countedSince, most],
  );
  return { countedSince, tables };
}

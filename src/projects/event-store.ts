import type { EntityManager } from 'typeorm';

interface ProjectChange {
  id: number;
  /**
   * For `inbox`, the object is a task, and the status why it needs a person, or `done`. For `chat`, the object is a task
   * or a sprint, and the status says which. For `plan`, it is a planning session.
   */
  kind: 'task' | 'run' | 'sprint' | 'inbox' | 'chat' | 'plan';
  objectId: string;
  status: string;
  at: Date;
  /** The number of the transaction that made the change. */
  transaction: number;
}

/**
 * Returns the current transaction numbers. All transactions before `settled` have ended, and no transaction has the
 * number `next` or a higher one yet.
 */
export async function transactionNumbers(em: EntityManager): Promise<{ settled: number; next: number }> {
  const [row] = await em.query(
    `select pg_snapshot_xmin(pg_current_snapshot())::text::float8 as settled,
       pg_snapshot_xmax(pg_current_snapshot())::text::float8 as next`,
  );
  return row;
}

/**
 * Returns the changes of a project by transactions from the number `from` on. All transactions before `settled` have
 * ended, so they can add no more changes.
 */
export async function listChanges(
  em: EntityManager,
  projectId: string,
  from: number,
): Promise<{ rows: ProjectChange[]; settled: number }> {
  const rows: (ProjectChange & { settled: number })[] = await em.query(
    `select id::float8 as id, kind, object_id as "objectId", status, at, xid::text::float8 as transaction,
       pg_snapshot_xmin(pg_current_snapshot())::text::float8 as settled
     from project_events where project_id = $1 and xid >= $2::text::xid8 order by id`,
    [projectId, String(from)],
  );
  return { rows, settled: rows[0]?.settled ?? from };
}

/** How far back a client can resume with `Last-Event-ID`. */
export const resumeMinutes = 60;

/** Deletes events that are too old for any client to request. */
export async function forgetOldEvents(em: EntityManager): Promise<void> {
  await em.query('delete from project_events where at < now() - make_interval(mins => $1)', [2 * resumeMinutes]);
}

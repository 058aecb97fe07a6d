import type { EntityManager } from 'typeorm';

/**
 * What advisory locks of PostgreSQL are taken for. The number is the second argument of `hashtextextended`: it keeps the
 * locks of one purpose apart from those of another, so it must be unique and must not change while older processes run.
 */
export const lockSpaces = {
  /** A run, by its id: a push excludes a cancel. */
  push: 0,
  /** A GitHub account, while its installation is recorded. */
  account: 1,
  /** An issue, while the task behind it is created. */
  issue: 2,
  /** A project, while dependencies of its tasks change. */
  dependencies: 4,
  /** Reconciling, of which there is one at a time. */
  reconcile: 6,
  /** Work of one name; see turns.ts. */
  turn: 100,
  /** A living process; see presence.ts. */
  presence: 101,
} as const;

export type LockSpace = keyof typeof lockSpaces;

/** Held while migrations run. It is a plain number; the chance that the hash of a name equals it is 2⁻⁶⁴. */
export const migrationLock = 7_263_001;

/** SQL: the key of a lock. `name` is an expression such as `$1`, never input. */
export function lockKey(space: LockSpace, name = '$1'): string {
  return `hashtextextended(${name}, ${lockSpaces[space]})`;
}

/** Waits for a lock and holds it until the transaction ends. */
export async function lockUntilCommit(em: EntityManager, space: LockSpace, name: string): Promise<void> {
  await em.query(`select pg_advisory_xact_lock(${lockKey(space)})`, [name]);
}

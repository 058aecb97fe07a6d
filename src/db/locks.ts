import type { EntityManager } from 'typeorm';

/**
 * The purposes of PostgreSQL's advisory locks. The number is the second argument of `hashtextextended`. It separates
 * the locks of different purposes, so it must be unique and must not change while older processes run.
 */
export const lockSpaces = {
  /** A run, by its id, so that it cannot be pushed and cancelled at the same time. */
  push: 0,
  /** A GitHub account, while its installation is being stored. */
  account: 1,
  /** An issue, while its task is being created. */
  issue: 2,
  /** A project, while dependencies between its tasks are being changed. */
  dependencies: 4,
  /** The reconciliation, of which only one may run at a time. */
  reconcile: 6,
  /** A share of all tasks, while their figures are being computed. Functions of the database take this lock. */
  figures: 7,
  /** The versions of an agent, while a process decides whether to ask a model for suggestions. */
  suggestions: 8,
  /** Named work; see named-locks.ts. */
  named: 100,
  /** A running process; see presence.ts. */
  presence: 101,
} as const;

export type LockSpace = keyof typeof lockSpaces;

/** The lock held while migrations run. It is a fixed number: the hash of a name equals it with a chance of 2⁻⁶⁴. */
export const migrationLock = 7_263_001;

/** Returns the SQL expression for the key of a lock. `name` is an SQL expression such as `$1`; never pass input. */
export function lockKey(space: LockSpace, name = '$1'): string {
  return `hashtextextended(${name}, ${lockSpaces[space]})`;
}

/** Waits for a lock and holds it until the transaction ends. */
export async function lockUntilCommit(em: EntityManager, space: LockSpace, name: string): Promise<void> {
  await em.query(`select pg_advisory_xact_lock(${lockKey(space)})`, [name]);
}

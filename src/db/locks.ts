import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { targetOf } from '../host/database-target.ts';
import { PooledClient } from './client.ts';

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
  /** A repository, while somebody asks for a review or a fix of one of its pull requests. */
  reviews: 9,
  /** A repository, while the collisions of one of its pull requests are stored. */
  collisions: 17,
  /** A repository, while somebody starts a harvest of its history. */
  benchmarks: 13,
  /** Named work; see `openNamedLocks`. */
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

/**
 * Number of locks that a process can hold at the same time. All jobs of a worker need fewer; API requests may have to
 * wait.
 */
const poolSize = 40;

/** This process has lost the lock, so another one may be doing the same work. */
export class LockLost extends Error {
  constructor(name: string) {
    super(`the lock "${name}" was lost with its connection to the database`);
    this.name = 'LockLost';
  }
}

/** Named locks: work excludes other work of the same name on all machines; see `Database.withLock`. */
export interface NamedLocks {
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface HeldLock {
  name: string;
  client: pg.PoolClient;
  isOver: boolean;
}

const current = new AsyncLocalStorage<HeldLock>();

/**
 * Checks that this process still holds the lock. Call it before a write that must not happen twice. Outside of locked
 * work it does nothing. It queries the database session that holds the lock, because in a process that was suspended, a
 * timer may fire before the connection reports that it has ended.
 * @throws LockLost
 */
export async function assertLock(): Promise<void> {
  const held = current.getStore();
  if (held === undefined || held.isOver) return;
  await held.client.query('select 1').catch(() => {
    throw new LockLost(held.name);
  });
}

/**
 * Opens the pool for named locks. Each is an advisory lock of a session, which PostgreSQL ends after `leaseSeconds`
 * without a sign of life.
 */
export function openNamedLocks(url: string, leaseSeconds: number): NamedLocks {
  const settings = {
    ...targetOf(url),
    max: poolSize,
    application_name: 'deckhand-locks',
    session: { idle_session_timeout: leaseSeconds * 1000 },
    idleTimeoutMillis: leaseSeconds * 250,
  };
  const pool = new pg.Pool({ Client: PooledClient, ...settings });
  // The pool replaces broken idle connections. Without a handler the error event would end the process.
  pool.on('error', () => {});
  return {
    withLock: inOrder(async (name, work) => {
      const client = await pool.connect();
      const held = { name, client, isOver: false };
      let heart: NodeJS.Timeout | undefined;
      let broken: Error | undefined;
      const breaks = (error: Error) => {
        broken = error;
      };
      client.on('error', breaks);
      try {
        await client.query(`select pg_advisory_lock(${lockKey('named')})`, [name]);
        heart = setInterval(() => client.query('select 1').catch(() => {}), leaseSeconds * 250);
        return await current.run(held, work);
      } finally {
        held.isOver = true;
        clearInterval(heart);
        await client.query('select pg_advisory_unlock_all()').catch((error) => {
          broken = error;
        });
        client.off('error', breaks);
        client.release(broken);
      }
    }),
    close: () => pool.end(),
  };
}

/**
 * Queues work of the same name in this process. Otherwise each caller would hold a connection while waiting for the
 * lock.
 */
function inOrder(withLock: NamedLocks['withLock']): NamedLocks['withLock'] {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(() => withLock(name, work));
    const over = mine
      .catch(() => {})
      .finally(() => {
        if (last.get(name) === over) last.delete(name);
      });
    last.set(name, over);
    return mine;
  };
}

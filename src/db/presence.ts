import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { targetOf } from '../host/database-target.ts';
import { PooledClient } from './client.ts';
import { lockKey } from './locks.ts';

const connectMs = 5_000;

/**
 * Shows processes which other processes are alive, so that the unfinished work of a dead one can be taken over
 * immediately.
 */
export interface Presence {
  /**
   * Returns the name under which this process holds a lock. If the connection breaks, the lock is released, the old
   * name counts as dead, and the next call returns a new name.
   */
  name(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Returns the SQL condition that a process is gone. `name` is an SQL expression for its name: a column or a parameter.
 * Evaluate it in a separate statement, because it may acquire the lock, which is then held until the transaction ends.
 */
export function isGone(name: string): string {
  return `pg_try_advisory_xact_lock_shared(${lockKey('presence', name)})`;
}

/**
 * Opens this process's presence. PostgreSQL ends the session that holds the lock after `leaseSeconds` without a sign of
 * life.
 */
export function openPresence(url: string, leaseSeconds: number): Presence {
  let client: pg.Client | undefined;
  let name: Promise<string> | undefined;
  let heart: NodeJS.Timeout | undefined;
  const leave = async (lost: pg.Client | undefined) => {
    if (lost === undefined || client !== lost) return;
    clearInterval(heart);
    client = name = undefined;
    await lost.end().catch(() => {});
  };
  const enter = async (): Promise<string> => {
    const made = new PooledClient({
      ...targetOf(url),
      application_name: 'deckhand-presence',
      connectionTimeoutMillis: connectMs,
      session: { idle_session_timeout: leaseSeconds * 1000 },
    });
    client = made;
    const lost = () => void leave(made);
    made.on('error', lost).on('end', lost);
    const entered = randomUUID();
    try {
      await made.connect();
      await made.query(`select pg_advisory_lock(${lockKey('presence')})`, [entered]);
    } catch (error) {
      await leave(made);
      throw error;
    }
    heart = setInterval(() => made.query('select 1').catch(lost), leaseSeconds * 250).unref();
    return entered;
  };
  return {
    name: () => {
      name ??= enter();
      return name;
    },
    close: () => leave(client),
  };
}

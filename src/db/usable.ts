import type pg from 'pg';
import { targetOf } from '../host/database-target.ts';
import { PooledClient } from './client.ts';

/** How long the check waits for a connection, and for each answer. A pooler may let clients wait without end. */
const patienceMs = 5_000;
/** While others use its sessions, a pooler gives the same one again by chance in up to half of the rounds. */
const rounds = 20;

/**
 * Checks that connections to an address can be used: they accept writes, and each has a session of its own. A pooler in
 * transaction mode seems to work, but locks, notifications and limits of time get lost between statements.
 * @throws Error that says what to change; the error of `pg` if the database cannot be reached
 */
export async function assertUsable(url: string): Promise<void> {
  const settings = {
    ...targetOf(url),
    application_name: 'deckhand-check',
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  };
  const [first, second] = [new PooledClient(settings), new PooledClient(settings)];
  try {
    await first.connect();
    const { rows } = await first.query<{ mode: string }>(`select current_setting('transaction_read_only') as mode`);
    if (rows[0]?.mode === 'on')
      throw new Error(
        'DATABASE_URL: the server is a standby, or its sessions are read-only. Give the address of the primary, or several servers with target_session_attrs=read-write',
      );
    if (!(await hasOwnSession(first, second)))
      throw new Error(
        'DATABASE_URL: a pooler gives the statements of one connection to different sessions. Set pool_mode = session (PgBouncer), or connect to PostgreSQL directly: locks and notifications belong to a session',
      );
  } finally {
    await Promise.all([first, second].map((client) => client.end().catch(() => {})));
  }
}

/** The same process id on another server, or after a restart, is another session. */
const whichSession = `select concat(pg_backend_pid(), ' ', pg_postmaster_start_time()) as session`;

/**
 * Returns whether the first client has a session of its own. While it is idle, a pooler in transaction mode lends its session
 * to the transaction of the second client, so that both have the same one, or the first one gets another.
 */
async function hasOwnSession(first: pg.Client, second: pg.Client): Promise<boolean> {
  const sessionOf = async (client: pg.Client) => {
    const { rows } = await client.query<{ session: string }>(whichSession);
    return rows[0]?.session;
  };
  try {
    await second.connect();
    for (let round = 0; round < rounds; round++) {
      const before = await sessionOf(first);
      await second.query('begin');
      const lent = await sessionOf(second);
      const after = await sessionOf(first);
      await second.query('rollback');
      if (lent === before || after !== before) return false;
    }
    return true;
  } catch (error) {
    // PgBouncer's words for `begin` in statement mode.
    if (/statement pooling mode/.test((error as Error).message)) return false;
    if (!/timeout/i.test((error as Error).message)) throw error;
    throw new Error(
      `DATABASE_URL: a second connection got no answer for ${patienceMs / 1000} s while another one was open. Behind a pooler, set pool_mode = session and allow DB_POOL_SIZE and 49 connections for each process`,
    );
  }
}

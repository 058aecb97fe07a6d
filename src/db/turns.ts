import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { PooledClient } from './client.ts';
import { lockKey } from './locks.ts';

/**
 * Number of locks that a process can hold at the same time. All jobs of a worker need fewer; API requests may have to
 * wait.
 */
const poolSize = 30;

/** This process has lost the lock, so another one may be doing the same work. */
export class TurnLost extends Error {
  constructor(name: string) {
    super(`the lock "${name}" was lost with its connection to the database`);
    this.name = 'TurnLost';
  }
}

/** Named locks: work excludes other work of the same name on all machines; see `Database.turn`. */
export interface Turns {
  take<T>(name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface Turn {
  name: string;
  client: pg.PoolClient;
  isOver: boolean;
}

const current = new AsyncLocalStorage<Turn>();

/**
 * Checks that this process still holds the lock. Call it before a write that must not happen twice. Outside of locked
 * work it does nothing. It queries the database session that holds the lock, because in a process that was suspended, a
 * timer may fire before the connection reports that it has ended.
 * @throws TurnLost
 */
export async function assertTurn(): Promise<void> {
  const turn = current.getStore();
  if (turn === undefined || turn.isOver) return;
  await turn.client.query('select 1').catch(() => {
    throw new TurnLost(turn.name);
  });
}

/**
 * Opens the pool for named locks. Each is an advisory lock of a session, which PostgreSQL ends after `leaseSeconds`
 * without a sign of life.
 */
export function openTurns(url: string, leaseSeconds: number): Turns {
  const pool = new pg.Pool({
    Client: PooledClient,
    connectionString: url,
    max: poolSize,
    application_name: 'deckhand-turns',
    options: `-c idle_session_timeout=${leaseSeconds * 1000}`,
    idleTimeoutMillis: leaseSeconds * 250,
  });
  // The pool replaces broken idle connections. Without a handler the error event would end the process.
  pool.on('error', () => {});
  return {
    take: inOrder(async (name, work) => {
      const client = await pool.connect();
      const turn = { name, client, isOver: false };
      let heart: NodeJS.Timeout | undefined;
      let broken: Error | undefined;
      const breaks = (error: Error) => {
        broken = error;
      };
      client.on('error', breaks);
      try {
        await client.query(`select pg_advisory_lock(${lockKey('turn')})`, [name]);
        heart = setInterval(() => client.query('select 1').catch(() => {}), leaseSeconds * 250);
        return await current.run(turn, work);
      } finally {
        turn.isOver = true;
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
function inOrder(take: Turns['take']): Turns['take'] {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(() => take(name, work));
    const over = mine
      .catch(() => {})
      .finally(() => {
        if (last.get(name) === over) last.delete(name);
      });
    last.set(name, over);
    return mine;
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { lockKey } from './locks.ts';

/** More turns of different names at once than there are jobs of all kinds; those of the API may have to wait. */
const poolSize = 30;

/** The turn went to somebody else, so what was to be done in it is theirs to do. */
export class TurnLost extends Error {
  constructor(name: string) {
    super(`the turn "${name}" was lost: its connection to the database is gone`);
    this.name = 'TurnLost';
  }
}

/** Work that excludes other work of the same name, on all machines together; see `Database.turn`. */
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
 * To be asked before what somebody else must not be doing at the same time. Outside of any turn it passes. It asks the
 * session that has the turn: whoever was stopped for a while hears of its loss later than of a timer that is due.
 * @throws TurnLost
 */
export async function assertTurn(): Promise<void> {
  const turn = current.getStore();
  if (turn === undefined || turn.isOver) return;
  await turn.client.query('select 1').catch(() => {
    throw new TurnLost(turn.name);
  });
}

/** A turn is an advisory lock of a session that ends when it shows no life for `leaseSeconds`. */
export function openTurns(url: string, leaseSeconds: number): Turns {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    application_name: 'deckhand-turns',
    options: `-c idle_session_timeout=${leaseSeconds * 1000}`,
    idleTimeoutMillis: leaseSeconds * 250,
  });
  // A broken idle connection is replaced by the pool; without a handler it would end the process.
  pool.on('error', () => {});
  return {
    take: inOrder(async (name, work) => {
      const client = await pool.connect();
      const turn = { name, client, isOver: false };
      let heart: NodeJS.Timeout | undefined;
      let broken: Error | undefined;
      client.on('error', (error) => {
        broken = error;
      });
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
        client.removeAllListeners('error');
        client.release(broken);
      }
    }),
    close: () => pool.end(),
  };
}

/** Turns of one name wait for each other here and not in the database, where each of them would hold a connection. */
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

import type pg from 'pg';
import { DataSource, type EntityManager, type MigrationInterface } from 'typeorm';
import { type Begins, openAmbient } from './ambient.ts';
import { openListener } from './listener.ts';
import { migrationLock } from './locks.ts';
import { openPresence } from './presence.ts';
import { tables } from './tables.ts';
import { openTurns, TurnLost } from './turns.ts';
import { writeProbe } from './writable.ts';

type MigrationClass = new () => MigrationInterface;

/** The open database. Stores take an `EntityManager`: `db.manager`, or the one of a transaction. */
export interface Database {
  /** Inside `together` the manager of its transaction, so it is to be read where it is used. */
  readonly manager: EntityManager;
  /** All or nothing. What throws inside rolls back and is thrown on. Inside `together` it is a savepoint. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /**
   * Makes one transaction of whatever `work` does with this database, its `transaction`s and jobs included. With
   * `'first transaction'` it begins there: until then `work` may wait for others without holding a connection, and each
   * of its statements stands alone.
   */
  together<T>(begins: Begins, work: () => Promise<T>): Promise<T>;
  /** The manager of the transaction of `together`, if one has begun. */
  ambient(): EntityManager | undefined;
  /** Calls `act` when what was written so far is committed: at once, except inside `together`. */
  afterCommit(act: () => void): void;
  /** The name under which this process can be seen to live; see `isGone`. */
  presence(): Promise<string>;
  /**
   * A prepared statement on the bare pool, for hot single reads: 1.4 times the speed of a raw `pg` query there, where
   * `DataSource.query` reaches 0.8 (see bench/). A name must always stand for the same text.
   */
  prepared<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]>;
  /**
   * Runs work while nobody else, on any machine, runs work of that name. For work that waits for others, such as
   * GitHub: it holds no transaction, and its connection is of a pool of its own, so that waiting starves nobody. A
   * process that shows no life for `leaseSeconds`, such as a stopped one, loses its turn to the next; `assertTurn` tells.
   */
  turn<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Calls `hear` whenever something about the topic (`run <id>`, `project <id>`) may have changed, by any process. */
  listen(topic: string, hear: () => void): () => void;
  ping(): Promise<void>;
  /** Writes a little and undoes it. @throws what PostgreSQL says when it cannot write, on a full disk for example */
  tryWrite(): Promise<void>;
  close(): Promise<void>;
}

/** A database that is away refuses at once. A busy machine is worth a wait: with 1.5 s one of two cores failed to start. */
const connectMs = 5_000;

/**
 * Connects and, under an advisory lock, brings the tables up to date.
 * @throws what `pg` throws when the database is away
 */
export async function openDatabase(
  url: string,
  migrations: MigrationClass[],
  { poolSize = 20, leaseSeconds = 30 } = {},
): Promise<Database> {
  const source = new DataSource({
    type: 'postgres',
    url,
    entities: tables,
    migrations,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'all',
    synchronize: false,
    poolSize,
    connectTimeoutMS: connectMs,
    applicationName: 'deckhand',
    logging: false,
    // A broken idle connection is replaced by the pool; without a handler it would end the process.
    poolErrorHandler: () => {},
  });
  await source.initialize();
  await migrate(source);
  const turns = openTurns(url, leaseSeconds);
  const presence = openPresence(url, leaseSeconds);
  const listener = openListener(url);
  const pool = (source.driver as unknown as { master: pg.Pool }).master;
  const ambient = openAmbient(source);
  return {
    get manager() {
      return ambient.runner()?.manager ?? source.manager;
    },
    transaction: ambient.transaction,
    together: ambient.run,
    ambient: () => ambient.runner()?.manager,
    afterCommit: ambient.afterCommit,
    presence: presence.name,
    prepared: async <Row extends object>(name: string, text: string, values: unknown[]) => {
      const connection: pg.Pool | pg.PoolClient = (await ambient.runner()?.connect()) ?? pool;
      return (await connection.query<Row>({ name, text, values })).rows;
    },
    turn: async (name, work) => {
      // The next in turn would not see what this one wrote, and the transaction would wait for whatever the turn waits for.
      if (ambient.isInside()) throw new Error(`the turn "${name}" is taken inside a transaction of \`together\``);
      return turns.take(name, work);
    },
    listen: listener.on,
    ping: async () => {
      await pool.query('select 1');
    },
    tryWrite: async () => {
      await pool.query(writeProbe);
    },
    close: async () => {
      await listener.close();
      await presence.close();
      await turns.close();
      await source.destroy();
    },
  };
}

/** Processes that start at the same time migrate one after the other. */
async function migrate(source: DataSource): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    await runner.query('select pg_advisory_lock($1)', [migrationLock]);
    await source.runMigrations();
  } finally {
    await runner.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {});
    await runner.release();
  }
}

const unreachable = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  '57P01',
  '57P02',
  '57P03',
  '08006',
  '08001',
  '53300',
];
/** No room on its disk, no memory, no working disk, and a replica that takes no writes (PostgreSQL, appendix A). */
const unwritable = ['53100', '53200', '58030', '25006'];

const hasCode = (error: unknown, codes: string[]) => codes.includes(String((error as { code?: unknown }).code));

/** Whether an error means that the database answers but cannot write. */
export function cannotWrite(error: unknown): boolean {
  return hasCode(error, unwritable);
}

/** Whether an error means that the database cannot be reached or cannot write, as opposed to a wrong statement. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof TurnLost || hasCode(error, unreachable) || cannotWrite(error)) return true;
  const { message } = error as { message?: unknown };
  return typeof message === 'string' && /Connection terminated|timeout exceeded when trying to connect/.test(message);
}

/** Whether a statement lost against another that was faster: what it meant is gone, or both waited for each other. */
export function lostRace(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return name === 'EntityNotFoundError' || (typeof code === 'string' && ['23503', '40001', '40P01'].includes(code));
}

/** The name of the unique index or constraint that an insert or update hit; undefined for other errors. */
export function violatedUnique(error: unknown): string | undefined {
  const { code, constraint, driverError } = error as { code?: string; constraint?: string; driverError?: unknown };
  if (code === '23505') return constraint ?? '';
  return driverError === undefined || driverError === error ? undefined : violatedUnique(driverError);
}

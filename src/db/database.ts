import type pg from 'pg';
import { DataSource, type EntityManager, type MigrationInterface } from 'typeorm';
import { openListener } from './listener.ts';
import { tables } from './tables.ts';
import { openTurns, TurnLost } from './turns.ts';

type MigrationClass = new () => MigrationInterface;

/** The open database. Stores take an `EntityManager`: `db.manager`, or the one of a transaction. */
export interface Database {
  manager: EntityManager;
  /** All or nothing. What throws inside rolls back and is thrown on. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /**
   * A prepared statement on the bare pool, for hot single reads: 1.4 times the speed of a raw `pg` query there, where
   * `DataSource.query` reaches 0.8 (see bench/). The name must stand for one text for ever.
   */
  prepared<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]>;
  /**
   * Runs work while nobody else, on any machine, runs work of that name. For work that waits for others, such as
   * GitHub: it holds no transaction, and its connection is of a pool of its own, so that waiting starves nobody. Who shows
   * no life for `leaseSeconds`, such as a process that was stopped, loses its turn to the next; `assertTurn` tells.
   */
  turn<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Calls `hear` whenever something about the topic (`run <id>`, `project <id>`) may have changed, by any process. */
  listen(topic: string, hear: () => void): () => void;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A database that is away refuses at once. A busy machine is worth a wait: with 1.5 s one of two cores failed to start. */
const connectMs = 5_000;

/** Keeps two services that start at once from migrating twice. The number is arbitrary and ours. */
const migrationLock = 7_263_001;

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
  const listener = openListener(url);
  const pool = (source.driver as unknown as { master: pg.Pool }).master;
  return {
    manager: source.manager,
    transaction: (work) => source.transaction(work),
    prepared: async <Row extends object>(name: string, text: string, values: unknown[]) =>
      (await pool.query<Row>({ name, text, values })).rows,
    turn: turns.take,
    listen: listener.on,
    ping: async () => {
      await pool.query('select 1');
    },
    close: async () => {
      await listener.close();
      await turns.close();
      await source.destroy();
    },
  };
}

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

/** Whether an error means that the database cannot be reached, as against a statement that is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof TurnLost) return true;
  const { code, message } = error as { code?: unknown; message?: unknown };
  const away = [
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
  if (typeof code === 'string' && away.includes(code)) return true;
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

import pg from 'pg';
import { DataSource, type EntityManager, type MigrationInterface } from 'typeorm';
import { targetOf } from '../host/database-target.ts';
import { type Begins, type LastAct, openAmbient } from './ambient.ts';
import { PooledClient } from './client.ts';
import { FairPool } from './fair-pool.ts';
import { LockLost, migrationLock, openNamedLocks } from './locks.ts';
import { openPresence } from './presence.ts';
import { tables } from './tables/list.ts';

type MigrationClass = new () => MigrationInterface;

/** The open database. Stores take an `EntityManager`: either `db.manager` or that of a transaction. */
export interface Database {
  /** Inside `together`, the manager of its transaction. Do not keep it: read the property each time. */
  readonly manager: EntityManager;
  /** Commits all of `work` or nothing: an error rolls back and is rethrown. Inside `together` it is a savepoint. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  /**
   * Runs everything that `work` does with this database, including `transaction` calls and jobs, in one transaction.
   * With `'first transaction'` the transaction begins with the first `transaction` call. Before that, each statement is
   * committed separately, and `work` may wait for other servers without holding a connection.
   */
  together<T>(begins: Begins, work: () => Promise<T>): Promise<T>;
  /** Runs reads in one transaction, which sees the database as it is at one moment (repeatable read). */
  snapshot<T>(read: () => Promise<T>): Promise<T>;
  /** Returns the manager of the transaction of `together`, or undefined if none has begun. */
  ambient(): EntityManager | undefined;
  /**
   * Calls `act` once the writes so far are committed, and never if they are rolled back: those of the transaction of `em`, or
   * without it those of `together`. Outside of a transaction, calls it immediately.
   */
  afterCommit(act: () => void, em?: EntityManager): void;
  /** Calls `act` at the end of every transaction that is not inside another one, as its last part. */
  beforeCommit(act: LastAct): void;
  /** Returns the name by which other processes detect whether this one is alive; see `isGone`. */
  presence(): Promise<string>;
  /**
   * Runs a prepared statement directly on the pool, for frequent single reads. It is 1.4 times as fast as an unprepared
   * `pg` query; `DataSource.query` reaches 0.8 (see bench/). Each name must always be used with the same text.
   */
  prepared<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]>;
  /**
   * Runs work while holding the lock of that name, which excludes other work of that name in all processes on all
   * machines. It is meant for work that waits for other servers, such as GitHub: it holds no transaction, and its
   * connection comes from a separate pool. A process that does not respond for `leaseSeconds`, for example because it
   * was suspended, loses the lock; `assertLock` detects that.
   */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Calls `hear` whenever any process may have changed something about the topic (`run <id>`, `project <id>`). */
  listen(topic: string, hear: Hear): () => void;
  /**
   * Sends a message to everyone who listens to the topic, in all processes. Nothing is stored. PostgreSQL refuses more
   * than 8000 bytes.
   */
  tell(topic: string, message: string): Promise<void>;
  /** How many connections for statements are open and in use, and how many statements wait for one. */
  connections(): { used: number; idle: number; waiting: number; most: number };
  ping(): Promise<void>;
  /**
   * Makes a small write that leaves no trace.
   * @throws PostgreSQL's error if it cannot write, for example because the disk is full
   */
  tryWrite(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A stopped database refuses connections immediately, but a busy machine needs time: with 1.5 s, startups failed on a
 * machine with two cores.
 */
const connectMs = 5_000;
/**
 * A transaction that waits this many leases for its process is rolled back. Otherwise a suspended process would hold its
 * locks until it is resumed, and no other worker could claim a run whose row it had locked.
 */
const idleLeases = 3;

interface DatabaseOptions {
  poolSize?: number;
  leaseSeconds?: number;
  mayMigrate?: boolean;
  /** Returns for whom the caller works. The connections are lent fairly between tenants. */
  tenant?: () => string | undefined;
}

/**
 * Connects and runs pending migrations under an advisory lock. With `mayMigrate: false` there must be none.
 * @throws the error of `pg` if the database cannot be reached; an Error that says what to do if it is not up to date
 */
export async function openDatabase(
  url: string,
  migrations: MigrationClass[],
  { poolSize = 20, leaseSeconds = 30, mayMigrate = true, tenant }: DatabaseOptions = {},
): Promise<Database> {
  const { connectionString, ...routed } = targetOf(url);
  const session = { idle_in_transaction_session_timeout: idleLeases * leaseSeconds * 1000 };
  const source = new DataSource({
    type: 'postgres',
    url: connectionString,
    entities: tables,
    migrations,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'all',
    synchronize: false,
    poolSize,
    connectTimeoutMS: connectMs,
    applicationName: 'deckhand',
    driver: { ...pg, Pool: FairPool },
    extra: { ...routed, Client: PooledClient, session, tenant },
    logging: false,
    // The pool replaces broken idle connections. Without a handler the error event would end the process.
    poolErrorHandler: () => {},
  });
  await source.initialize();
  await (mayMigrate ? migrate(source) : assertMigrated(source)).catch(async (error) => {
    await source.destroy();
    throw error;
  });
  const namedLocks = openNamedLocks(url, leaseSeconds);
  const presence = openPresence(url, leaseSeconds);
  const listener = openListener(url);
  const pool = (source.driver as unknown as { master: FairPool }).master;
  const ambient = openAmbient(source);
  return {
    get manager() {
      return ambient.runner()?.manager ?? source.manager;
    },
    transaction: ambient.transaction,
    together: ambient.run,
    ambient: () => ambient.runner()?.manager,
    afterCommit: ambient.afterCommit,
    beforeCommit: ambient.beforeCommit,
    presence: presence.name,
    prepared: async <Row extends object>(name: string, text: string, values: unknown[]) => {
      const connection: pg.Pool | pg.PoolClient = (await ambient.runner()?.connect()) ?? pool;
      return (await connection.query<Row>({ name, text, values })).rows;
    },
    snapshot: (read) =>
      ambient.run('start', async () => {
        await ambient.runner()?.manager.query('set transaction isolation level repeatable read');
        return read();
      }),
    withLock: async (name, work) => {
      // The next holder of the lock would not see these uncommitted writes, and the transaction would stay open while
      // waiting for the lock.
      if (ambient.isInside()) throw new Error(`the lock "${name}" is taken inside a transaction of \`together\``);
      return namedLocks.withLock(name, work);
    },
    listen: listener.on,
    tell: async (topic, message) => {
      await pool.query(`select pg_notify('changes', $1)`, [`${topic}\n${message}`]);
    },
    connections: () => {
      const { totalCount, idleCount, waiting } = pool;
      return { used: totalCount - idleCount, idle: idleCount, waiting, most: poolSize };
    },
    ping: async () => {
      await pool.query('select 1');
    },
    tryWrite: async () => {
      await pool.query(writeProbe);
    },
    close: async () => {
      await listener.close();
      await presence.close();
      await namedLocks.close();
      await source.destroy();
    },
  };
}

/** Runs pending migrations. Processes that start at the same time migrate one after the other. */
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

/** The database lacks migrations of this version, and this process may not run them. */
export class NotMigrated extends Error {
  /** All that are missing, oldest first. */
  readonly missing: string[];
  /** Whether it has no migrations at all. */
  readonly isNew: boolean;

  constructor(missing: string[], isNew: boolean) {
    const what = missing.length === 1 ? 'a migration' : `${missing.length} migrations`;
    super(
      `MIGRATE: off, but the database lacks ${what} of this version (first ${missing[0]}). Run "npm run migrate" with a role that may change tables, or set MIGRATE=on.`,
    );
    this.name = 'NotMigrated';
    this.missing = missing;
    this.isNew = isNew;
  }
}

/** Checks that the database has all migrations of this version. @throws NotMigrated */
async function assertMigrated(source: DataSource): Promise<void> {
  const [{ exists }]: [{ exists: boolean }] = await source.query(
    `select to_regclass('migrations') is not null as exists`,
  );
  const done: { name: string }[] = exists ? await source.query('select name from migrations') : [];
  const isDone = new Set(done.map(({ name }) => name));
  const missing = source.migrations.map(({ name }) => name ?? '').filter((name) => !isDone.has(name));
  if (missing.length > 0) throw new NotMigrated(missing, done.length === 0);
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
  '25P03',
  '08006',
  '08001',
  '53300',
];
/** Disk full, out of memory, I/O error, and read-only transaction (PostgreSQL, appendix A). */
const unwritable = ['53100', '53200', '58030', '25006'];

/** TypeORM releases a connection that broke, and answers later statements of its transaction with one of these errors. */
const released = new Set<unknown>(['QueryRunnerAlreadyReleasedError', 'QueryRunnerProviderAlreadyReleasedError']);

const hasCode = (error: unknown, codes: string[]) => codes.includes(String((error as { code?: unknown }).code));

/** Returns whether an error means that the database responds but cannot write. */
export function cannotWrite(error: unknown): boolean {
  return hasCode(error, unwritable);
}

/**
 * Returns whether an error means that the database cannot be reached or cannot write, as opposed to an invalid
 * statement.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof LockLost || hasCode(error, unreachable) || cannotWrite(error)) return true;
  const { message, name } = error as { message?: unknown; name?: unknown };
  if (released.has(name)) return true;
  return typeof message === 'string' && /Connection terminated|timeout exceeded when trying to connect/.test(message);
}

/** Returns whether a concurrent statement won: the row is gone, or the statements deadlocked. */
export function lostRace(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return name === 'EntityNotFoundError' || (typeof code === 'string' && ['23503', '40001', '40P01'].includes(code));
}

/**
 * Returns the name of the unique index or constraint that an insert or update violated, or undefined for other errors.
 */
export function violatedUnique(error: unknown): string | undefined {
  const { code, constraint, driverError } = error as { code?: string; constraint?: string; driverError?: unknown };
  if (code === '23505') return constraint ?? '';
  return driverError === undefined || driverError === error ? undefined : violatedUnique(driverError);
}

/**
 * A write that fails on a full disk, a standby or a read-only database, and that leaves no trace. Locking a row writes
 * to the row and to the write-ahead log, which is flushed at the commit. A result that does not fit into `work_mem`
 * needs about 1 MB of new disk space. The statements are sent as one message, so they form one transaction.
 */
export const writeProbe = `
  set local work_mem = '64kB';
  select count(*) from generate_series(1, 50000);
  select 1 from migrations order by id limit 1 for no key update`;

type Hear = (message?: string) => void;

/** Reports changes made by any process, using PostgreSQL's LISTEN. */
interface Listener {
  /**
   * Calls `hear` whenever something about the topic may have changed, until the returned function is called. A message
   * that was sent with `tell` is passed on.
   */
  on(topic: string, hear: Hear): () => void;
  close(): Promise<void>;
}

const reconnectMs = 500;
const listenMs = 15_000;

/**
 * Opens a listener that uses one connection for all topics of this process. The connection is opened on first use and
 * reopened when it breaks. All listeners are then called, because notifications may have been missed.
 */
function openListener(url: string): Listener {
  const heard = new Map<string, Set<Hear>>();
  let client: pg.Client | undefined;
  let isClosed = false;
  let again: NodeJS.Timeout | undefined;
  const tellAll = () => {
    for (const hearers of heard.values()) for (const hear of hearers) hear();
  };
  const connect = async () => {
    const made = new pg.Client({
      ...targetOf(url),
      application_name: 'deckhand-listener',
      // The connection only receives, so without keep-alive it would not notice that the server has vanished.
      connectionTimeoutMillis: listenMs,
      keepAlive: true,
    });
    client = made;
    const lost = () => {
      if (client !== made) return;
      client = undefined;
      made.end().catch(() => {});
      if (!isClosed && heard.size > 0) again = setTimeout(start, reconnectMs).unref();
    };
    made.on('error', lost);
    made.on('end', lost);
    made.on('notification', ({ payload = '' }) => {
      const [topic, message] = split(payload);
      for (const hear of heard.get(topic) ?? []) hear(message);
    });
    try {
      await made.connect();
      await made.query('listen changes');
      tellAll();
    } catch {
      lost();
    }
  };
  const start = () => void connect();
  return {
    on: (topic, hear) => {
      const hearers = heard.get(topic) ?? new Set();
      heard.set(topic, hearers.add(hear));
      if (client === undefined && !isClosed) start();
      return () => {
        hearers.delete(hear);
        if (hearers.size === 0 && heard.get(topic) === hearers) heard.delete(topic);
      };
    },
    close: async () => {
      isClosed = true;
      clearTimeout(again);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}

/** A notification is a topic, and after a line feed the message if there is one. */
function split(payload: string): [topic: string, message?: string] {
  const at = payload.indexOf('\n');
  return at < 0 ? [payload] : [payload.slice(0, at), payload.slice(at + 1)];
}

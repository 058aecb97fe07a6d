import { type ConnectionOptions, PgBoss } from 'pg-boss';
import type { EntityManager } from 'typeorm';
import type { JobName, JobPolicies, Jobs, Workers } from './names.ts';

export interface SendOptions {
  /** Of jobs with one key, one waiting is enough. */
  key?: string;
  afterSeconds?: number;
  /** Adds no job while another one of this name waits to be taken; only together with `em`. */
  unlessWaiting?: boolean;
}

/**
 * Jobs on PostgreSQL. A job sent in a transaction exists when and only when that transaction commits; without one it
 * belongs to the ambient transaction, if there is any.
 */
export interface Queue {
  send<N extends JobName>(em: EntityManager | undefined, name: N, data: Jobs[N], options?: SendOptions): Promise<void>;
  /** Begins to take jobs. */
  work(workers: Workers): Promise<void>;
  /** @throws Error when the queue's connection is gone, or one of its workers no longer looks for jobs */
  check(): Promise<void>;
  /** Takes no more jobs and waits for those under way, `timeoutMs` at most. */
  stop(timeoutMs: number): Promise<void>;
}

/** A worker that has nothing to do looks for jobs every 2 s. */
const idleMs = 60_000;

type ErrorSink = (error: unknown, what: string) => void;

/** Connects the queue; its tables are made when missing. A worker supervises, a web process only sends. */
export async function openQueue(
  url: string,
  policies: JobPolicies,
  isWorker: boolean,
  onError: ErrorSink,
  ambient: () => EntityManager | undefined = () => undefined,
): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: url,
    application_name: 'deckhand-queue',
    max: 6,
    supervise: isWorker,
    // Jobs of a worker that was killed come back after their heartbeat's 10 s and this; with pg-boss's own 60 s GitHub
    // showed an old state of a task for over a minute.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    schedule: false,
    useListenNotify: isWorker,
    // Nobody waits for these connections but jobs, and the start.
    connectionTimeoutMillis: 15_000,
  });
  boss.on('error', (error) => onError(error, 'queue'));
  await boss.start();
  for (const [name, { once, retries }] of Object.entries(policies))
    await boss.createQueue(name, {
      policy: once ? 'short' : 'standard',
      notify: true,
      retryLimit: retries,
      ...(retries > 0 ? { retryDelay: 1, retryBackoff: true, retryDelayMax: 60 } : {}),
      expireInSeconds: 12 * 3600,
      heartbeatSeconds: 10,
      deleteAfterSeconds: 3600,
    });
  return {
    send: async (given, name, data, { key, afterSeconds, unlessWaiting } = {}) => {
      const em = given ?? ambient();
      if (unlessWaiting === true && em !== undefined && (await isWaiting(em, name))) return;
      const options = {
        ...(key === undefined ? {} : { singletonKey: key }),
        ...(afterSeconds === undefined ? {} : { startAfter: afterSeconds }),
        ...(em === undefined ? {} : inside(em)),
      };
      while ((await boss.send(name, data, options)) === null && em !== undefined && key !== undefined)
        if (await holdWaiting(em, name, key)) return;
    },
    work: async (workers) => {
      for (const name of Object.keys(workers) as JobName[]) {
        const { concurrency, handle } = workers[name];
        for (let i = 0; i < concurrency; i++)
          await startWorker(boss, name, handle as (data: Jobs[JobName]) => Promise<void>, onError);
      }
    },
    check: async () => {
      await boss.getDb().executeSql('select 1');
      const late = Date.now() - idleMs;
      const stuck = boss.getWipData().find((w) => w.count === 0 && (w.lastFetchedOn ?? w.createdOn) < late);
      if (stuck) throw new Error(`the queue ${stuck.name} has taken no jobs for ${idleMs / 1000} s`);
    },
    stop: (timeoutMs) => boss.stop({ graceful: true, timeout: timeoutMs }),
  };
}

/**
 * Keeps the job that waits with this key from being taken before our transaction commits: it would look at what was
 * before, and nobody would look again. Fetching skips what is locked; transactions that share the lock do not wait for one
 * another. False when it was taken meanwhile.
 */
async function holdWaiting(em: EntityManager, name: JobName, key: string): Promise<boolean> {
  const waiting = await em.query(
    `select 1 from pgboss.job where name = $1 and singleton_key = $2 and state = 'created' for key share`,
    [name, key],
  );
  return waiting.length > 0;
}

async function isWaiting(em: EntityManager, name: JobName): Promise<boolean> {
  const waiting = await em.query(
    `select 1 from pgboss.job where name = $1 and state in ('created', 'retry') and start_after <= now() limit 1`,
    [name],
  );
  return waiting.length > 0;
}

/** One worker that takes jobs as long as there are any. */
async function startWorker<N extends JobName>(
  boss: PgBoss,
  name: N,
  handle: (data: Jobs[N]) => Promise<void>,
  onError: ErrorSink,
): Promise<void> {
  // Notified of new jobs only, pg-boss would look for repeated and delayed ones every 30 s.
  const often = { pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 2 };
  const id = await boss.work<Jobs[N]>(name, often, async ([job]) => {
    if (job === undefined) return;
    try {
      await handle(job.data);
    } catch (error) {
      onError(error, `job ${name}`);
      throw error;
    } finally {
      // After a job it would rest until the next poll: two jobs a second of a backlog, instead of hundreds.
      boss.notifyWorker(id);
    }
  });
}

/** Lets pg-boss speak on the connection of our transaction. */
function inside(em: EntityManager): ConnectionOptions {
  return {
    db: {
      executeSql: async (text, values) => {
        const result = await em.query(text, values as unknown[]);
        // TypeORM answers [rows, count] for an update or delete, else the rows.
        return { rows: Array.isArray(result?.[0]) ? result[0] : result };
      },
    },
  };
}

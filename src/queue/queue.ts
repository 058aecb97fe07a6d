import { setTimeout as sleep } from 'node:timers/promises';
import cron, { type ScheduledTask } from 'node-cron';
import type pg from 'pg';
import { type ConnectionOptions, PgBoss } from 'pg-boss';
import type { EntityManager, QueryRunner } from 'typeorm';
import { targetOf } from '../host/database-target.ts';
import { forTenant } from '../threads/tenant.ts';
import { currentSpan } from '../tracing/traced.ts';
import type { JobName, JobPolicies, JobPolicy, Jobs, Worker, Workers } from './names.ts';
import {
  dueJobs,
  givenTurns,
  giveTurns,
  type NewJob,
  prepareTurns,
  type Queries,
  type TenantOf,
  type TurnOf,
} from './turns.ts';

/** Runs functions at the times of cron expressions until stopped. Skips a function that is still running. */
export function startSchedule(entries: [string, () => Promise<void>][], onError: (error: unknown) => void) {
  // node-cron would write to the console, also when it skips a function on a busy machine.
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: onError };
  const tasks: ScheduledTask[] = entries.map(([expression, act]) =>
    cron.schedule(expression, () => act().catch(onError), { noOverlap: true, logger }),
  );
  return {
    stop: async () => {
      // Stopped tasks would stay in the list that node-cron keeps.
      for (const task of tasks) await task.destroy();
    },
  };
}

export interface SendOptions {
  /** A second job with the same key is not added while the first one waits or is not done; see `JobPolicy.once`. */
  key?: string;
  afterSeconds?: number;
  /** Adds no job while another one of this name waits. Ignored when `send` gets no `em`. */
  unlessWaiting?: boolean;
}

/**
 * Stores jobs in PostgreSQL. A job sent within a transaction exists if and only if that transaction commits. Without
 * `em`, `send` uses the ambient transaction, if there is one.
 */
export interface Queue {
  send<N extends JobName>(em: EntityManager | undefined, name: N, data: Jobs[N], options?: SendOptions): Promise<void>;
  /** Starts to handle jobs. */
  work(workers: Workers): Promise<void>;
  /**
   * Checks that the queue works.
   * @throws Error when the queue's connection is lost, or one of its workers no longer polls for jobs
   */
  check(): Promise<void>;
  /** Claims no more jobs and waits at most `timeoutMs` for those under way. */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * How often an idle worker looks for jobs by itself. pg-boss tells workers of new jobs, and `notifyIdleWorkers` of retried and
 * delayed ones, and of those whose notification was lost, with one statement for all workers. With 20 s, the 70 workers of
 * an idle process still made most of its transactions.
 */
const pollSeconds = 300;
/** A process that has had no job for so long looks for due ones only at every fifth time, after ten seconds. */
const quietMs = 30_000;
/** A worker counts as stuck when it has not polled for jobs for this long. */
const idleMs = 3 * pollSeconds * 1000;

/** How long the connections of the queue may take to close. */
const closeMs = 3000;

type ErrorSink = (error: unknown, what: string) => void;

export interface QueueOptions {
  /** Only processes with workers claim and supervise jobs. */
  isWorker: boolean;
  /** Whether to create tables that are missing and to change those of an earlier version; true by default. */
  mayMigrate?: boolean;
  /** The class of the pool's clients. It handles `error` events: nobody else does while pg-boss uses a client. */
  Client: typeof pg.Client;
  /** Whose job it is. Tenants take turns; see turns.ts. */
  tenantOf: TenantOf;
  onError: ErrorSink;
  ambient?: () => EntityManager | undefined;
}

/** The queue of a process that only looks: it neither connects nor takes a job. */
export const closedQueue: Queue = {
  send: async (_em, name) => {
    throw new Error(`this command sends no jobs, but was to send ${name}`);
  },
  work: async () => {},
  check: async () => {},
  stop: async () => {},
};

/** Connects the queue and creates its tables if they are missing. @throws Error if it may not, and they are */
export async function openQueue(
  url: string,
  policies: JobPolicies,
  { isWorker, mayMigrate = true, Client, tenantOf, onError, ambient = () => undefined }: QueueOptions,
): Promise<Queue> {
  const pool = { ...targetOf(url), Client };
  const boss = new PgBoss({
    // Missing in pg-boss's types. It passes its options to the pool.
    ...pool,
    application_name: 'deckhand-queue',
    max: 6,
    migrate: mayMigrate,
    supervise: isWorker,
    // The jobs of a killed worker are found by `notifyIdleWorkers`. pg-boss needs six statements to look for them.
    superviseIntervalSeconds: 60,
    monitorIntervalSeconds: 5,
    // Jobs that wait for other jobs, which we do not have.
    flowIntervalSeconds: 3600,
    schedule: false,
    useListenNotify: isWorker,
    // Only jobs and the start of the service wait for these connections, never a request.
    connectionTimeoutMillis: 15_000,
  });
  // It emits copies of errors, which are none themselves.
  boss.on('error', (error) => onError(Object.assign(new Error(error.message), error), 'queue'));
  await boss.start();
  await makeQueues(boss, policies);
  await boss.getDb().executeSql(prepareTurns);
  const sending: Sending = { boss, policies, turnOf: givenTurns(tenantOf) };
  let turns: ReturnType<typeof startSchedule> | undefined;
  const activity = { busyAt: performance.now(), lookedAt: Number.NEGATIVE_INFINITY, looks: 0 };
  return {
    send: (given, name, data, options = {}) => send(sending, given ?? ambient(), { name, data, ...options }),
    work: async (workers) => {
      const names = Object.keys(workers) as JobName[];
      const look = async () => {
        const isQuiet = performance.now() - activity.busyAt > quietMs;
        if (isQuiet && ++activity.looks % 5 !== 0) return;
        if (await notifyIdleWorkers(boss, names)) activity.busyAt = performance.now();
        activity.lookedAt = performance.now();
      };
      turns = startSchedule([['*/2 * * * * *', look]], (error) => onError(error, 'turns'));
      const begins = () => {
        activity.busyAt = performance.now();
      };
      for (const name of names) await startWorkers(boss, name, workers[name] as Worker<JobName>, { begins, onError });
    },
    check: () => check(boss, activity.lookedAt),
    stop: async (timeoutMs) => {
      await turns?.stop();
      // pg-boss looks only every 500 ms whether its workers are done.
      const done = Promise.all(Object.keys(policies).map((name) => boss.offWork(name)));
      await Promise.race([done, sleep(timeoutMs, undefined, { ref: false })]);
      // It waits for its connections, which may not answer any more.
      await Promise.race([boss.stop({ graceful: true, timeout: 1000 }), sleep(closeMs, undefined, { ref: false })]);
    },
  };
}

/** Creates the queues that are missing, and changes those that an earlier version created with other options. */
async function makeQueues(boss: PgBoss, policies: JobPolicies): Promise<void> {
  const existing = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  for (const [name, policy] of Object.entries(policies)) {
    const options = optionsOf(policy);
    const present = existing.get(name) as Record<string, unknown> | undefined;
    if (present === undefined) await boss.createQueue(name, { ...options, policy: policy.once ? 'short' : 'standard' });
    else if (Object.entries(options).some(([option, value]) => present[option] !== value))
      await boss.updateQueue(name, options);
  }
}

function optionsOf({ retries }: JobPolicy) {
  return {
    notify: true,
    retryLimit: retries,
    ...(retries > 0 ? { retryDelay: 1, retryBackoff: true, retryDelayMax: 60 } : {}),
    expireInSeconds: 12 * 3600,
    heartbeatSeconds: 10,
    deleteAfterSeconds: 3600,
  };
}

interface Sending {
  boss: PgBoss;
  policies: JobPolicies;
  turnOf: TurnOf;
}

async function send(
  { boss, policies, turnOf }: Sending,
  em: EntityManager | undefined,
  job: NewJob & SendOptions,
): Promise<void> {
  const { name, data, key, afterSeconds, unlessWaiting } = job;
  if (unlessWaiting === true && em !== undefined && (await isWaiting(em, name))) return;
  const { haveSent, ...turn } = await turnOf(em === undefined ? boss.getDb() : inside(em).db, job, runnerOf(em));
  const options = {
    ...(key === undefined ? {} : { singletonKey: key }),
    ...(afterSeconds === undefined ? {} : { startAfter: afterSeconds }),
    ...(em === undefined ? {} : inside(em)),
    ...turn,
  };
  const isAdded = async () => (await boss.send(name, withTrace(data), options)) !== null;
  try {
    if (em === undefined || key === undefined || !policies[name].once) await isAdded();
    // If a job with this key is already waiting, it replaces ours. If a worker claims it before it is locked, try again.
    else while (!(await isAdded())) if (await lockWaiting(em, name, key)) return;
  } finally {
    haveSent();
  }
}

/** Adds the current span to a payload, so that the trace goes on where the job is handled. */
function withTrace(data: Jobs[JobName]): object {
  const traceparent = currentSpan()?.traceparent;
  return traceparent === undefined ? data : { ...data, traceparent };
}

/** Returns the connection of a transaction; undefined if each statement is committed separately. */
function runnerOf(em: EntityManager | undefined): QueryRunner | undefined {
  return em?.queryRunner?.isTransactionActive ? em.queryRunner : undefined;
}

/** A look for jobs that succeeded since then shows that the queue's connection works. */
const freshMs = 15_000;

/** See `Queue.check`. */
async function check(boss: PgBoss, lookedAt: number): Promise<void> {
  if (performance.now() - lookedAt > freshMs) await boss.getDb().executeSql('select 1');
  const late = Date.now() - idleMs;
  const stuck = boss.getWipData().find((w) => w.count === 0 && (w.lastFetchedOn ?? w.createdOn) < late);
  if (stuck) throw new Error(`the queue ${stuck.name} has taken no jobs for ${idleMs / 1000} s`);
}

/**
 * Locks the waiting job with this key until our transaction commits. A worker that claimed the job earlier would see
 * the state from before the transaction, and no other job would follow. Workers skip locked jobs. The lock is shared,
 * so transactions that send the same job do not wait for each other. Returns false when a worker has already claimed
 * the job.
 */
async function lockWaiting(em: EntityManager, name: JobName, key: string): Promise<boolean> {
  const waiting: unknown[] = await em.query(
    `select 1 from pgboss.job where name = $1 and singleton_key = $2 and state = 'created' for key share`,
    [name, key],
  );
  return waiting.length > 0;
}

async function isWaiting(em: EntityManager, name: JobName): Promise<boolean> {
  const waiting: unknown[] = await em.query(
    `select 1 from pgboss.job where name = $1 and state in ('created', 'retry') and start_after <= now() limit 1`,
    [name],
  );
  return waiting.length > 0;
}

/** Starts the workers of a name, each of which handles one job at a time. */
async function startWorkers<N extends JobName>(
  boss: PgBoss,
  name: N,
  { concurrency, mostOfTenant, handle }: Worker<N>,
  { begins, onError }: { begins(): void; onError: ErrorSink },
): Promise<void> {
  const options = {
    localConcurrency: concurrency,
    // A job that is claimed beyond this limit goes back to the queue.
    ...(mostOfTenant === undefined ? {} : { localGroupConcurrency: mostOfTenant }),
    // While the connection that receives notifications is lost.
    pollingIntervalSeconds: 2,
    notifyPollingIntervalSeconds: pollSeconds,
  };
  await boss.work<Jobs[N] & { traceparent?: string }>(name, options, async ([job]) => {
    if (job === undefined) return;
    begins();
    try {
      const { traceparent, ...data } = job.data;
      await forTenant(job.groupId ?? undefined, () => handle(data as unknown as Jobs[N], traceparent));
    } catch (error) {
      onError(error, `job ${name}`);
      throw error;
    } finally {
      // A job that failed is retried soon.
      begins();
      // Without this, a worker would wait for the next poll after each job: two jobs a second instead of hundreds. pg-boss
      // does not say which of the busy workers this is.
      for (const { id, name: of, count } of boss.getWipData()) if (of === name && count > 0) boss.notifyWorker(id);
    }
  });
}

/**
 * Lets idle workers look for jobs if some of theirs are due: pg-boss does not notify workers of retried and delayed jobs.
 * Before that, such jobs get their turns, and the jobs of workers that were killed become available. One statement asks
 * whether there are any, because an idle process should cost the database as little as possible. Returns whether there were.
 */
async function notifyIdleWorkers(boss: PgBoss, names: JobName[]): Promise<boolean> {
  const { rows } = await boss.getDb().executeSql(dueJobs, [names]);
  const [{ due, lacksTurn, isLost }] = rows as [{ due: string[]; lacksTurn: boolean; isLost: boolean }];
  if (isLost) await boss.supervise();
  if (lacksTurn) await giveTurns(boss.getDb());
  for (const { id, name, count } of boss.getWipData()) if (count === 0 && due.includes(name)) boss.notifyWorker(id);
  return isLost || due.length > 0;
}

/** Makes pg-boss use the connection of our transaction. */
function inside(em: EntityManager): ConnectionOptions & { db: Queries } {
  return {
    db: {
      executeSql: async (text, values) => {
        const result = await em.query(text, values as unknown[]);
        // TypeORM returns [rows, count] for an update or delete, otherwise the rows.
        return { rows: Array.isArray(result?.[0]) ? result[0] : result };
      },
    },
  };
}

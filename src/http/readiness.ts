import type { App } from '../app.ts';
import { cannotWrite, isDatabaseAway } from '../db/database.ts';

export type Readiness = 'ok' | 'stopping' | 'database away' | 'database cannot write';

/** A database that does not respond within this time counts as unavailable. The check never takes longer. */
const answerMs = 2000;
/**
 * A test write that takes longer counts as failed. On a busy disk it may take more than 2 s; until it ends, the result
 * of the previous one is used.
 */
const writeMs = 10_000;
/** The minimum time between two test writes, because anyone can request the check at any rate. */
const pauseMs = 5000;

/**
 * Returns a check whether the database responds and can write. Simultaneous callers share one check. A process that is
 * about to stop is not ready, so that load balancers send requests elsewhere while it still answers them.
 */
export function readiness({ db, log, draining }: Pick<App, 'db' | 'log' | 'draining'>): () => Promise<Readiness> {
  let last: Readiness = 'ok';
  /** Returns the result of a check. Logs its cause when the state has become worse. */
  const outcome = (attempt: Promise<void>, failed: Readiness) =>
    attempt.then(
      (): Readiness => 'ok',
      (error): Readiness => {
        const found = isDatabaseAway(error) && !cannotWrite(error) ? 'database away' : failed;
        if (last !== found) log.error({ err: error, databaseState: found }, found);
        return found;
      },
    );
  let written: Readiness = 'ok';
  let writing: Promise<Readiness> | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  const write = async () => {
    if (writing === undefined && Date.now() - triedAt > pauseMs) {
      triedAt = Date.now();
      const attempt = outcome(db.tryWrite(), 'database cannot write');
      writing = within(writeMs, attempt, () => 'database cannot write').then((found) => {
        writing = undefined;
        written = found;
        return found;
      });
    }
    return writing === undefined ? written : within(answerMs, writing, () => written);
  };
  const look = async () => {
    const answers = await within(answerMs, outcome(db.ping(), 'database away'), () => 'database away');
    const found = answers === 'ok' ? await write() : answers;
    if (found === 'ok' && last !== 'ok') log.info({ databaseState: 'ok' }, 'the database is available again');
    last = found;
    return last;
  };
  let looking: Promise<Readiness> | undefined;
  return async () => {
    if (draining.aborted) return 'stopping';
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
}

async function within(ms: number, found: Promise<Readiness>, otherwise: () => Readiness): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve(otherwise()), ms).unref();
  });
  return Promise.race([found, late]).finally(() => clearTimeout(timer));
}

import type { App } from '../app.ts';
import { cannotWrite, isDatabaseAway } from '../db/database.ts';

export type Readiness = 'ok' | 'database away' | 'database cannot write';

/** A database that does not answer within this time counts as away. No reply takes longer. */
const answerMs = 2000;
/** A write that takes longer has failed. On a busy disk it may take more than 2 s; until then the last outcome counts. */
const writeMs = 10_000;
/** The least time between two writes, because strangers may ask at any rate. */
const pauseMs = 5000;

/** Whether the database answers and can write. Simultaneous callers share one check. */
export function readiness({ db, log }: Pick<App, 'db' | 'log'>): () => Promise<Readiness> {
  let last: Readiness = 'ok';
  /** The outcome of an attempt. A change for the worse is logged with its cause. */
  const outcome = (attempt: Promise<void>, failed: Readiness) =>
    attempt.then(
      (): Readiness => 'ok',
      (error): Readiness => {
        const found = isDatabaseAway(error) && !cannotWrite(error) ? 'database away' : failed;
        if (last !== found) log.error({ err: error }, found);
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
    last = answers === 'ok' ? await write() : answers;
    return last;
  };
  let looking: Promise<Readiness> | undefined;
  return () => {
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

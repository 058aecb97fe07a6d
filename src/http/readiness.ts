import type { App } from '../app.ts';
import { cannotWrite, isDatabaseAway } from '../db/database.ts';

export type Readiness = 'ok' | 'database away' | 'database cannot write';

/** A database that does not answer in that time is away; and nobody waits longer for a reply. */
const answerMs = 2000;
/** A write that takes longer has failed. A busy disk may well take more than 2 s; until then the last outcome counts. */
const writeMs = 10_000;
/** A write is tried at most this often: strangers ask as often as they like. */
const pauseMs = 5000;

/** Whether the database answers and can write. However many ask at once, they share one look. */
export function readiness({ db, log }: Pick<App, 'db' | 'log'>): () => Promise<Readiness> {
  let told: Readiness = 'ok';
  /** What an attempt comes to; each change is logged with its cause. */
  const outcome = (attempt: Promise<void>, failed: Readiness) =>
    attempt.then(
      (): Readiness => 'ok',
      (error): Readiness => {
        const found = isDatabaseAway(error) && !cannotWrite(error) ? 'database away' : failed;
        if (told !== found) log.error({ err: error }, found);
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
    told = answers === 'ok' ? await write() : answers;
    return told;
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

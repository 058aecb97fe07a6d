import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';

/** Returns all addresses of a name. */
export type LookUp = (host: string) => Promise<LookupAddress[]>;

/**
 * Look-ups at the same time, in the whole process and in one run. The system's resolver blocks one of Node's four
 * threads for up to 20 s if a name server does not answer, and reading files needs these threads too.
 */
const [maxOfProcess, maxOfRun] = [2, 1];

/** How long a connection waits for an answer, and how many names of a run may wait. Further ones fail at once. */
const patienceMs = 10_000;
const maxWaiting = 64;

/** How long an answer is cached, and for how many names of a run. */
const [keptMs, maxKept] = [60_000, 256];

/** Limits the look-ups of all runs together. */
export function limitedLookUp(ask: LookUp = (host) => lookup(host, { all: true })): LookUp {
  const turn = turns(maxOfProcess);
  return (host) => turn(() => ask(host));
}

/**
 * Returns the look-up of one run. It asks once for each name, so that simultaneous connections to a host share an
 * answer. Failures are not kept.
 */
export function lookUpOnce(ask: LookUp): LookUp {
  const turn = turns(maxOfRun);
  const kept = new Map<string, { until: number; answer: Promise<LookupAddress[]> }>();
  let waiting = 0;
  return async (host) => {
    const known = kept.get(host);
    if (known !== undefined && known.until > performance.now()) return inTime(known.answer);
    if (waiting === maxWaiting) throw Object.assign(new Error('too many look-ups'), { code: 'EBUSY' });
    waiting += 1;
    const answer = turn(() => ask(host)).finally(() => {
      waiting -= 1;
    });
    answer.catch(() => kept.delete(host));
    const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(host, { until: performance.now() + keptMs, answer });
    return inTime(answer);
  };
}

/** Returns a function that runs tasks, at most `max` at the same time and the others in their order. */
function turns(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running === max) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })),
      patienceMs,
    ).unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

import type { LookupAddress } from 'node:dns';
import { inTime, type LookUp } from '../host/resolve.ts';

/** Look-ups of one run at the same time. Name servers that do not answer occupy these only. */
const maxOfRun = 4;

/** How many names of a run may wait. Further ones fail at once. */
const maxWaiting = 64;

/** How long an answer is cached, and for how many names of a run. */
const [keptMs, maxKept] = [60_000, 256];

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

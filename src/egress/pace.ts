import { setTimeout as sleep } from 'node:timers/promises';

/** Returns a function that waits for its turn: at once for the first `burst` calls, then `perSecond` times a second. */
export function paced(perSecond: number, burst: number): () => Promise<void> {
  const intervalMs = 1000 / perSecond;
  let due = 0;
  return async () => {
    const now = performance.now();
    due = Math.max(due, now - burst * intervalMs) + intervalMs;
    if (due > now) await sleep(due - now);
  };
}

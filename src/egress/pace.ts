import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a function that waits for its turn: at once for the first `burst` calls, then `perSecond` times a second. It
 * returns false at once if the turn would come later than `patienceMs`, which limits the number of those who wait.
 */
export function paced(perSecond: number, burst: number, patienceMs: number): () => Promise<boolean> {
  const intervalMs = 1000 / perSecond;
  let due = 0;
  return async () => {
    const now = performance.now();
    const mine = Math.max(due, now - burst * intervalMs) + intervalMs;
    if (mine > now + patienceMs) return false;
    due = mine;
    if (mine > now) await sleep(mine - now);
    return true;
  };
}

import type { ClientRateLimitInfo, Store } from 'express-rate-limit';

/** Maximum number of keys. They take about 2 MB. */
const maxKeys = 10_000;

/**
 * Counts requests in windows of one length. The store of express-rate-limit keeps every key for up to two windows, so a
 * client with many addresses could exhaust the memory. This store evicts the oldest window when it is full.
 */
export function boundedStore(): Store {
  const counts = new Map<string, ClientRateLimitInfo>();
  let windowMs = 60_000;
  return {
    localKeys: true,
    init: (options) => {
      windowMs = options.windowMs;
    },
    increment: (key) => {
      const now = Date.now();
      let count = counts.get(key);
      if (count === undefined || isOver(count, now)) {
        counts.delete(key);
        makeRoom(counts, now);
        count = { totalHits: 0, resetTime: new Date(now + windowMs) };
        counts.set(key, count);
      }
      count.totalHits += 1;
      return count;
    },
    decrement: (key) => {
      const count = counts.get(key);
      if (count !== undefined && count.totalHits > 0) count.totalHits -= 1;
    },
    resetKey: (key) => {
      counts.delete(key);
    },
  };
}

function isOver({ resetTime }: ClientRateLimitInfo, now: number): boolean {
  return (resetTime?.getTime() ?? 0) <= now;
}

/**
 * Evicts expired windows, or the oldest one. All windows have the same length, so the map's order is the order in which
 * they end.
 */
function makeRoom(counts: Map<string, ClientRateLimitInfo>, now: number): void {
  for (const [key, count] of counts) {
    if (counts.size < maxKeys && !isOver(count, now)) return;
    counts.delete(key);
  }
}

/** Returns the pause before the next try. It doubles each time; `tries` is the number of earlier pauses. */
export function growingPauseMs(tries: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(tries, 30));
}

/**
 * Returns the pause that a `Retry-After` header asks for, given in seconds or as a date; undefined when the header is
 * missing or malformed.
 */
export function retryAfterMs(header: string | null | undefined, now = Date.now()): number | undefined {
  if (header == null || header.trim() === '') return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

import { apart } from '../../threads/apart.ts';
import { parseBounded } from './read-payload.ts';

/** Parsing JSON blocks the event loop: about 10 ms for this many bytes, a quarter of a second for 25 MB. */
const largeBytes = 1_000_000;
/** Parses large payloads in a separate thread. 25 MB of JSON can become hundreds of MB of small objects. */
const reader = apart<typeof import('./read-payload.ts')>(new URL('./read-payload.ts', import.meta.url), {
  seconds: 10,
  heapMb: 768,
});

export function isLarge(bytes: number): boolean {
  return bytes > largeBytes;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Does work on large payloads one at a time, because it needs several times their size in memory. Starts work on other
 * payloads immediately.
 */
export function oneLargeAtATime<T>(isLarge: boolean, work: () => Promise<T>): Promise<T> {
  if (!isLarge) return work();
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}

/**
 * Parses a payload. Returns undefined when it is not a JSON object or is nested too deeply. Lists in a large payload are
 * cut to 100 entries.
 */
export async function parsePayload(text: string): Promise<object | undefined> {
  const value = isLarge(text.length) ? await reader.call('readPayload', text) : parseBounded(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long a loop may block the event loop. Handling a request takes three or four iterations of the event loop, so
 * each must be short.
 */
const turnMs = 10;

/**
 * Returns a function for loops that await data that has already arrived. Awaiting its result yields to the event loop
 * every few milliseconds. Otherwise a fast server would keep timers and other requests waiting.
 */
export function takeTurns(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < turnMs) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
}

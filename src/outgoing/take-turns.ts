import { setImmediate as nextTurn } from 'node:timers/promises';

/** Answering a request takes three or four turns of the event loop, so each should be short. */
const turnMs = 10;

/**
 * For loops that await data that has already arrived. Awaiting the returned function yields to the event loop now and then.
 * Without it, a server that sends fast enough keeps timers and other requests waiting.
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

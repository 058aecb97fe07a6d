import { setImmediate as nextTurn } from 'node:timers/promises';

/** Others wait three or four turns of the event loop for an answer. */
const turnMs = 10;

/**
 * For work that goes on as long as data comes in, and whose waiting is over at once: answers a function that, awaited now and
 * then, lets everybody else have a turn. Without it a fast server leaves no turn to timers and to other callers.
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

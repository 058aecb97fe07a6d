import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';

/** Calls the functions that read files of a change. A batch of ordinary files takes milliseconds. */
export const judging = apart<typeof import('./judge-contents.ts')>(new URL('./judge-contents.ts', import.meta.url), {
  seconds: 15,
  heapMb: 256,
});

/** Returns what a thread answers, or something else if it exceeded a limit: the answer that lets nothing be proved. */
export function unlessTooSlow<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  return answer.catch((error) => {
    if (error instanceof OverLimit) return otherwise;
    throw error;
  });
}

/** Splits a list, so that each message to a thread stays small. */
export function batchesOf<T>(things: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(things.length / size) }, (_, i) => things.slice(i * size, (i + 1) * size));
}

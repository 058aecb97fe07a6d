import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauseMs } from '../domain/patience.ts';
import { passing } from './failures.ts';
import type { Journal } from './journal.ts';

/**
 * Does a step of a run again while a host stumbles. A step must look up what is there before it makes anything, as it has to
 * for a worker that takes the run over.
 */
export type Patience = <T>(step: () => Promise<T>) => Promise<T>;

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

interface About {
  journal: Pick<Journal, 'note'>;
  /** Ends a pause, too. */
  signal: AbortSignal;
  /** How long all pauses and repetitions of a run may take together. */
  seconds: number;
  /** When the time of the run is over; nothing is repeated later. */
  endsAt: () => number;
}

/** The patience of one run: growing pauses, or longer ones where the host asks for them, and a line in the log for each. */
export function patienceOf({ journal, signal, seconds, endsAt }: About): Patience {
  let leftMs = seconds * 1000;
  return async (step) => {
    let failedAt: number | undefined;
    try {
      for (let tries = 0; ; tries++)
        try {
          return await step();
        } catch (error) {
          failedAt ??= Date.now();
          const found = signal.aborted ? undefined : passing(error);
          const roomMs = Math.min(failedAt + leftMs, endsAt()) - Date.now();
          const pauseMs = Math.max(growingPauseMs(tries, firstPauseMs, longestPauseMs), found?.afterMs ?? 0);
          if (found === undefined || pauseMs > roomMs) throw error;
          await journal.note('repository', `${found.says}; trying again in ${Math.ceil(pauseMs / 1000)} s`);
          await sleep(pauseMs, undefined, { signal });
        }
    } finally {
      if (failedAt !== undefined) leftMs -= Date.now() - failedAt;
    }
  };
}

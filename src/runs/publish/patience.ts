import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauseMs } from '../../domain/patience.ts';
import { passing } from '../failures.ts';
import type { Journal } from '../lease/journal.ts';

/**
 * Repeats a step of a run while the git host or GitHub is away. Steps are safe to repeat: they look up what exists before
 * they create anything, because another worker may take the run over at any point.
 */
export type Patience = <T>(step: () => Promise<T>) => Promise<T>;

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

interface About {
  journal: Pick<Journal, 'note'>;
  /** Also ends a pause. */
  signal: AbortSignal;
  /** Total time that the run may spend on pauses and repeated steps. */
  seconds: number;
  /** When the time of the run is up; nothing is repeated after that. */
  endsAt: () => number;
}

/** Pauses grow, are longer where the host asks for it, and each is a line in the log of the run. */
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

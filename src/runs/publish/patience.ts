import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauseMs } from '../../domain/patience.ts';
import { temporaryFault } from '../failures.ts';
import type { Journal } from '../lease/journal.ts';

/**
 * Retries a step of a run while the git host or GitHub cannot be reached. Steps must be safe to repeat: they check what
 * exists before they create anything. They have to do so anyway, because another worker may take over the run at any
 * point.
 */
export type Patience = <T>(step: () => Promise<T>) => Promise<T>;

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

interface About {
  journal: Pick<Journal, 'note'>;
  /** Aborting it also ends a pause. */
  signal: AbortSignal;
  /** Total time that the run may spend on pauses and retries. */
  seconds: number;
  /** When the time of the run is up. No step is retried after that. */
  endsAt: () => number;
}

/**
 * Creates the retry function of one run. All steps share the time in `seconds`. The pause grows with each retry of a
 * step and is longer if the host asks for it. Each pause adds a line to the log of the run.
 */
export function patienceOf(about: About): Patience {
  let leftMs = about.seconds * 1000;
  return async (step) => {
    let failedAt: number | undefined;
    try {
      for (let tries = 0; ; tries++)
        try {
          return await step();
        } catch (error) {
          failedAt ??= Date.now();
          await pauseAfter(error, tries, Math.min(failedAt + leftMs, about.endsAt()), about);
        }
    } finally {
      if (failedAt !== undefined) leftMs -= Date.now() - failedAt;
    }
  };
}

/**
 * Waits before the next try.
 * @throws the given error when it is permanent or the pause would end after the deadline
 */
async function pauseAfter(error: unknown, tries: number, deadline: number, { journal, signal }: About): Promise<void> {
  const found = signal.aborted ? undefined : temporaryFault(error);
  const pauseMs = Math.max(growingPauseMs(tries, firstPauseMs, longestPauseMs), found?.afterMs ?? 0);
  if (found === undefined || pauseMs > deadline - Date.now()) throw error;
  await journal.note('repository', `${found.says}; trying again in ${Math.ceil(pauseMs / 1000)} s`);
  await sleep(pauseMs, undefined, { signal });
}

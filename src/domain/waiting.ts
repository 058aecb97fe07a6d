import { growingPauseMs } from './patience.ts';

/** What a run waits for. `model` means that the model's server asked it to wait. */
export const waitReasons = ['plan', 'question', 'push', 'paused', 'model'] as const;
export type WaitReason = (typeof waitReasons)[number];

/** What people see of a run that waits. `options` are the answers to choose from, numbered from 1. */
export interface Attention {
  id: string;
  reason: WaitReason;
  text: string;
  options: string[];
  since: string;
}

/** How long a run waits for its model in total, in seconds. Then it fails. */
const maxModelWaitSeconds = 3600;

/** Pauses when the server does not say how long to wait. They double each time up to the longest. */
const firstMs = 5000;
const longestMs = 600_000;
/** Shortest pauses when the server says how long: each pause costs a new workspace, so they grow too. */
const firstShortMs = 1000;
const longestShortMs = 60_000;

/** The pauses of a run for its model so far. */
export interface ModelWaits {
  /** Pauses in a row without a turn in between. */
  count: number;
  totalSeconds: number;
}

/** Returns how many seconds a run waits for its model; undefined when it may not wait any longer. */
export function modelPause({ count, totalSeconds }: ModelWaits, retryAfterMs: number | undefined): number | undefined {
  const pauseMs =
    retryAfterMs === undefined
      ? growingPauseMs(count, firstMs, longestMs)
      : Math.max(retryAfterMs, growingPauseMs(count, firstShortMs, longestShortMs));
  const seconds = pauseMs / 1000;
  return totalSeconds + seconds > maxModelWaitSeconds ? undefined : seconds;
}

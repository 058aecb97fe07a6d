import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauseMs } from '../domain/waiting.ts';
import { refusedAnswer } from '../errors.ts';
import { ModelFailed, type ReplyOptions } from './model.ts';
import { isOutOfCredit, type Refusal, refusalOf } from './refusals/refusal.ts';
import type { Tell } from './wire-format.ts';

const maxRetries = 4;
const firstPauseMs = 500;
const longestPauseMs = 8000;
/** When a server asks for a longer pause, the caller decides: a run is parked and leaves its slot to others. */
const longestAskedMs = 20_000;

interface Limits {
  signal: AbortSignal;
  endsAt: number;
  /** Returns whether a refusal is final for this request although its status may be temporary. */
  isFinal: (refusal: Refusal) => boolean;
}

/**
 * Retries temporary failures a few times, but not after `endsAt`. Pauses as long as the server asks, or else longer
 * each time. A stream that breaks after its first text is repeated only if `onRestart` can say so.
 */
export async function repeated<T>(
  send: (tell: Tell) => Promise<T>,
  { onText, onCall, onRestart }: ReplyOptions,
  { signal, endsAt, isFinal }: Limits,
): Promise<T> {
  let isTold = false;
  const tell: Tell = {
    text: (piece) => {
      isTold ||= onText !== undefined;
      onText?.(piece);
    },
    call: (name, piece) => {
      isTold ||= onCall !== undefined;
      onCall?.(name, piece);
    },
  };
  for (let retries = 0; ; retries++)
    try {
      return await send(tell);
    } catch (error) {
      const pauseMs = pauseAfter(error, retries, isFinal);
      const isShown = isTold && onRestart === undefined;
      if (pauseMs === undefined || isShown || signal.aborted || performance.now() + pauseMs > endsAt) throw error;
      await sleep(pauseMs, undefined, { signal });
      if (isTold) onRestart?.();
      isTold = false;
    }
}

/** Returns the pause before the next try, or undefined when there is none. */
function pauseAfter(error: unknown, retries: number, isFinal: Limits['isFinal']): number | undefined {
  if (error instanceof ModelFailed || refusedAnswer(error) !== undefined || retries === maxRetries) return undefined;
  const refusal = refusalOf(error);
  if (!isTemporary(refusal) || isFinal(refusal)) return undefined;
  const pauseMs = refusal.retryAfterMs ?? growingPauseMs(retries, firstPauseMs, longestPauseMs);
  return pauseMs > longestAskedMs ? undefined : pauseMs;
}

/** Without a status the server could not be reached, or its answer ended early. A used-up quota does not pass. */
function isTemporary(refusal: Refusal): boolean {
  const { status } = refusal;
  if (isOutOfCredit(refusal)) return false;
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;
}

import { AnswerRefused, AnswerStalled } from '../errors.ts';

/** The time limits for a response. */
export interface Clock {
  /** Aborted with AnswerRefused when the time is up, or with AnswerStalled after too long a silence. */
  signal: AbortSignal;
  /** Starts the limit on silence over. Call it whenever something arrives. */
  heard(maxSilenceMs: number): void;
  /**
   * Checks the time in busy loops, in which timers do not fire.
   * @throws AnswerRefused when the time is up
   */
  check(): void;
  stop(): void;
  /** Aborts the request, because its response is no longer needed. */
  end(): void;
}

export function startClock(maxMs: number): Clock {
  const end = performance.now() + maxMs;
  const late = () => new AnswerRefused(`was not complete after ${maxMs / 1000} s`);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(late()), maxMs).unref();
  let silence: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    clearTimeout(silence);
  };
  return {
    signal: over.signal,
    heard: (ms) => {
      silence ??= setTimeout(() => over.abort(new AnswerStalled(ms / 1000)), ms).unref();
      silence.refresh();
    },
    check: () => {
      if (performance.now() > end) throw late();
    },
    stop,
    end: () => {
      stop();
      over.abort();
    },
  };
}

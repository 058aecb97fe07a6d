import { AnswerRefused } from '../errors.ts';

/** The time limit for a response. */
export interface Clock {
  /** Aborted with AnswerRefused when the time is up. */
  signal: AbortSignal;
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
  return {
    signal: over.signal,
    check: () => {
      if (performance.now() > end) throw late();
    },
    stop: () => clearTimeout(timer),
    end: () => {
      clearTimeout(timer);
      over.abort();
    },
  };
}

import type { RunRow } from '../../db/tables/run.ts';
import type { Limit } from '../../domain/budget.ts';
import { limitNote, RunFailed } from '../../domain/run.ts';

/** Node fires timers with a longer delay immediately. */
const maxTimerMs = 2_147_483_647;
/**
 * Minimum time to open the repository. A worker that takes over a run whose time is up still needs it to push the work.
 */
const leastOpeningMs = 300_000;

/** The time limit of a run, counted from its first start; a takeover does not extend it. */
export interface RunClock {
  /** Aborted with RunFailed `timeout` when the repository was not open in time. */
  opening: AbortSignal;
  /** Aborted with RunFailed `timeout` when the time of the run is up. */
  working: AbortSignal;
  /** Starts the time limit for opening the repository. */
  open(minutes: Limit): void;
  /** Starts the time limit for the work. The repository's settings are known by then and may have shortened it. */
  work(minutes: Limit): void;
  /** Returns when the time is up, in milliseconds since the epoch. */
  endsAt(): number;
  stop(): void;
}

/** Returns when a run would have begun if it had never waited, in milliseconds since the epoch. */
export function clockStart({ startedAt, waitedSeconds }: Pick<RunRow, 'startedAt' | 'waitedSeconds'>): number {
  return (startedAt ?? new Date()).getTime() + waitedSeconds * 1000;
}

/** Starts the clock of a run. `beganAt` is what `clockStart` returned. */
export function startRunClock(beganAt: number): RunClock {
  const [opening, working] = [new AbortController(), new AbortController()];
  let endsAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const endIn = (ms: number, phase: AbortController, { value, setBy }: Limit) => {
    const message = `the run took longer than its ${value} minutes ${limitNote(setBy)}`;
    clearTimeout(timer);
    timer = setTimeout(() => phase.abort(new RunFailed('timeout', message)), Math.min(Math.max(ms, 1), maxTimerMs));
  };
  return {
    opening: opening.signal,
    working: working.signal,
    open: (minutes) => {
      const ms = Math.max(beganAt + minutes.value * 60_000 - Date.now(), leastOpeningMs);
      endsAt = Date.now() + ms;
      endIn(ms, opening, minutes);
    },
    work: (minutes) => {
      endsAt = beganAt + minutes.value * 60_000;
      endIn(endsAt - Date.now(), working, minutes);
    },
    endsAt: () => endsAt,
    stop: () => clearTimeout(timer),
  };
}

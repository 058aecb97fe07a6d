import type { EntityManager } from 'typeorm';
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
  /** Returns when the time is up, as `performance.now()` counts. */
  endsAt(): number;
  stop(): void;
}

/**
 * Returns for how many milliseconds a run has worked since its first start, without its waits. The database tells: the
 * clock of this machine may differ from that of the machine on which the run began.
 */
export async function readElapsedMs(em: EntityManager, runId: string): Promise<number> {
  const rows: { ms: number }[] = await em.query(
    `select coalesce(1000 * (extract(epoch from clock_timestamp() - started_at) - waited_seconds), 0)::float8 as ms
     from runs where id = $1`,
    [runId],
  );
  return rows[0]?.ms ?? 0;
}

/** Starts the clock of a run that has worked for so long; see `readElapsedMs`. From then on it does not follow any clock of a day. */
export function startRunClock(elapsedMs: number): RunClock {
  const beganAt = performance.now() - elapsedMs;
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
      const ms = Math.max(beganAt + minutes.value * 60_000 - performance.now(), leastOpeningMs);
      endsAt = performance.now() + ms;
      endIn(ms, opening, minutes);
    },
    work: (minutes) => {
      endsAt = beganAt + minutes.value * 60_000;
      endIn(endsAt - performance.now(), working, minutes);
    },
    endsAt: () => endsAt,
    stop: () => clearTimeout(timer),
  };
}

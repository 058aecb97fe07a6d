/** Node fires timers with a longer delay immediately. */
const maxTimerMs = 2_147_483_647;
/** A worker that takes over a run whose time is up still has to open the repository to push the work. */
const leastOpeningMs = 300_000;

/** The time of a run, counted from its first start; a takeover does not extend it. */
export interface RunClock {
  /** Aborted when the repository was not open in time. */
  opening: AbortSignal;
  /** Aborted when the time of the run is up. */
  working: AbortSignal;
  open(minutes: number): void;
  /** The repository is open; its settings may shorten the time. */
  work(minutes: number): void;
  /** When the time is up, in milliseconds since the epoch. */
  endsAt(): number;
  stop(): void;
}

export function startClock(beganAt: number): RunClock {
  const [opening, working] = [new AbortController(), new AbortController()];
  let endsAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const endIn = (ms: number, what: AbortController) => {
    clearTimeout(timer);
    timer = setTimeout(() => what.abort(new DOMException('over', 'TimeoutError')), Math.min(ms, maxTimerMs));
  };
  return {
    opening: opening.signal,
    working: working.signal,
    open: (minutes) => {
      const ms = Math.max(beganAt + minutes * 60_000 - Date.now(), leastOpeningMs);
      endsAt = Date.now() + ms;
      endIn(ms, opening);
    },
    work: (minutes) => {
      endsAt = beganAt + minutes * 60_000;
      endIn(endsAt - Date.now(), working);
    },
    endsAt: () => endsAt,
    stop: () => clearTimeout(timer),
  };
}

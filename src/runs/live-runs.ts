/**
 * The runs that this process works on. A cancel in this process aborts them immediately; other processes notice a
 * cancel at their next heartbeat.
 */
export interface LiveRuns {
  /** Registers a run. The returned controller aborts the work on it. */
  hold(runId: string): AbortController;
  letGo(runId: string, controller: AbortController): void;
  /** Aborts a run if this process works on it. */
  abort(runId: string): void;
  /** Takes one of so many places, until the returned function is called. Returns undefined if all are taken. */
  enter(places: number): (() => void) | undefined;
}

export function openLiveRuns(): LiveRuns {
  const live = new Map<string, AbortController>();
  let taken = 0;
  return {
    hold: (runId) => {
      const controller = new AbortController();
      live.set(runId, controller);
      return controller;
    },
    letGo: (runId, controller) => {
      // If the lease expired and this process claimed the run a second time, the run now has a newer controller. Keep
      // that one.
      if (live.get(runId) === controller) live.delete(runId);
    },
    abort: (runId) => live.get(runId)?.abort(new Error('cancelled')),
    enter: (places) => {
      if (taken >= places) return undefined;
      taken += 1;
      return () => {
        taken -= 1;
      };
    },
  };
}

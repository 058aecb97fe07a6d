/**
 * The runs that this process works on. A cancel in this process aborts them immediately; other processes notice a
 * cancel at their next heartbeat.
 */
const live = new Map<string, AbortController>();

/** Registers a run. The returned controller aborts the work on it. */
export function holdHere(runId: string): AbortController {
  const controller = new AbortController();
  live.set(runId, controller);
  return controller;
}

export function letGo(runId: string, controller: AbortController): void {
  // If the lease expired and this process claimed the run a second time, the run now has a newer controller. Keep that
  // one.
  if (live.get(runId) === controller) live.delete(runId);
}

/** Aborts a run if this process works on it. */
export function abortHere(runId: string): void {
  live.get(runId)?.abort(new Error('cancelled'));
}

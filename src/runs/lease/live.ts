/** Runs that this very process works on, so that a cancel here is felt at once; elsewhere the heartbeat tells. */
const live = new Map<string, AbortController>();

export function holdHere(runId: string): AbortController {
  const controller = new AbortController();
  live.set(runId, controller);
  return controller;
}

export function letGo(runId: string, controller: AbortController): void {
  // Taken over by this very process, the run has another holder by now.
  if (live.get(runId) === controller) live.delete(runId);
}

export function abortHere(runId: string): void {
  live.get(runId)?.abort(new Error('cancelled'));
}

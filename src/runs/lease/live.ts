/** The runs that this process works on. A cancel in this process stops them at once; other processes learn of it by the heartbeat. */
const live = new Map<string, AbortController>();

/** Registers a run; the controller aborts its work. */
export function holdHere(runId: string): AbortController {
  const controller = new AbortController();
  live.set(runId, controller);
  return controller;
}

export function letGo(runId: string, controller: AbortController): void {
  // This process may have taken the run over from itself; then the new holder stays.
  if (live.get(runId) === controller) live.delete(runId);
}

/** Aborts a run when this process works on it. */
export function abortHere(runId: string): void {
  live.get(runId)?.abort(new Error('cancelled'));
}

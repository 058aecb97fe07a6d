/**
 * How long to collect events. Those of one change arrive within milliseconds, but through several streams. What pages then
 * fetch at the same moment is one request.
 */
const momentMs = 80;

const waiting = new Set<() => void>();
let isTimed = false;

/**
 * Calls a function a moment later, together with all others that were given in this time, and once however often it was
 * given. Returns a function that withdraws it.
 */
export function soon(run: () => void): () => void {
  waiting.add(run);
  if (!isTimed) setTimeout(runAll, momentMs);
  isTimed = true;
  return () => {
    waiting.delete(run);
  };
}

function runAll(): void {
  isTimed = false;
  const runs = [...waiting];
  waiting.clear();
  for (const run of runs) run();
}

import pRetry from 'p-retry';
import { type GitEngine, GitFailed, isPassing } from './engine.ts';

/** Two more attempts, after 0.5 s and 2 s. */
const attempts = { retries: 2, minTimeout: 500, factor: 4 };

/**
 * Repeats an operation when the remote fails for a moment. Reading twice does no harm. Neither does pushing the same
 * commit again: nothing is forced, and each engine checks whether the remote has it already.
 */
function retried<T>(act: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return pRetry(act, {
    ...attempts,
    ...(signal === undefined ? {} : { signal }),
    // Whether to wait as long as the remote asks is for the caller to decide.
    shouldRetry: ({ error, retryDelay }) =>
      error instanceof GitFailed && isPassing(error.fault) && (error.retryAfterMs ?? 0) <= retryDelay,
  });
}

/** The same engine, which repeats fetches and pushes when the remote fails for a moment. Callers handle longer outages. */
export function patient(engine: GitEngine): GitEngine {
  return {
    ...engine,
    open: async (remote, folders, signal) => {
      const checkout = await engine.open(remote, folders, signal);
      return {
        ...checkout,
        fetch: (branch) => retried(() => checkout.fetch(branch), signal),
        fetchCommit: (commit) => retried(() => checkout.fetchCommit(commit), signal),
        push: (commit, branch) => retried(() => checkout.push(commit, branch), signal),
      };
    },
  };
}

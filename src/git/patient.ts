import pRetry from 'p-retry';
import { type GitEngine, GitFailed, isTransientFault } from './engine.ts';

/** Two more attempts, after 0.5 s and 2 s. */
const attempts = { retries: 2, minTimeout: 500, factor: 4 };

/**
 * Retries an operation when the remote fails temporarily. Repeating a fetch is harmless. So is repeating a push of the
 * same commit: pushes are never forced, and each engine checks whether the remote already has the commit.
 */
function retried<T>(act: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return pRetry(act, {
    ...attempts,
    ...(signal === undefined ? {} : { signal }),
    // If the remote asks for a longer pause, the caller decides whether to wait.
    shouldRetry: ({ error, retryDelay }) =>
      error instanceof GitFailed && isTransientFault(error.fault) && (error.retryAfterMs ?? 0) <= retryDelay,
  });
}

/**
 * Wraps an engine so that fetches and pushes are retried when the remote fails temporarily. Callers handle longer
 * outages.
 */
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

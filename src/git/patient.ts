import { setTimeout as sleep } from 'node:timers/promises';
import { type GitEngine, GitFailed, isPassing } from './engine.ts';

/**
 * Between the tries with a remote that stumbles. Reading twice does no harm; neither does pushing the same commit again,
 * because nothing is forced and each engine reads first whether the remote has it by now.
 */
const retriesMs = [500, 2000];

async function again<T>(act: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await act();
    } catch (error) {
      const pauseMs = retriesMs[tries];
      if (!(error instanceof GitFailed && isPassing(error.fault)) || pauseMs === undefined) throw error;
      // A longer wait is for the caller to decide about.
      if (error.retryAfterMs !== undefined && error.retryAfterMs > pauseMs) throw error;
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
}

/** The same engine, which tries again when the remote cannot be reached for a moment. Longer outages are for its callers. */
export function patient(engine: GitEngine): GitEngine {
  return {
    ...engine,
    open: async (remote, folders, signal) => {
      const checkout = await engine.open(remote, folders, signal);
      return {
        ...checkout,
        fetch: (branch) => again(() => checkout.fetch(branch), signal),
        fetchCommit: (commit) => again(() => checkout.fetchCommit(commit), signal),
        push: (commit, branch) => again(() => checkout.push(commit, branch), signal),
      };
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type GitEngine, GitFailed } from './engine.ts';

/** Between the tries to read from a remote that stumbles; reading twice does no harm, a push is never repeated here. */
const retriesMs = [500, 2000];

async function again<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await read();
    } catch (error) {
      const pauseMs = retriesMs[tries];
      if (!(error instanceof GitFailed && error.fault === 'unreachable') || pauseMs === undefined) throw error;
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
}

/** The same engine, which tries to read again when the remote cannot be reached for a moment. */
export function patient(engine: GitEngine): GitEngine {
  return {
    ...engine,
    open: async (remote, folders, signal) => {
      const checkout = await engine.open(remote, folders, signal);
      return { ...checkout, fetch: (branch) => again(() => checkout.fetch(branch), signal) };
    },
  };
}

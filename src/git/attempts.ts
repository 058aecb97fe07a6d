import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import pRetry from 'p-retry';
import { type GitEngine, GitFailed, isTransientFault, type Remote, remoteSeconds } from './engine.ts';

/** Limits on the resources of git while it talks to a remote; git has none of its own. */
export interface GitLimits {
  /** Memory of each process. */
  memoryBytes: number;
  /** Size of one file; git writes what it receives into a single one. */
  fileBytes: number;
}

/** The default limits. The index of a pack of 10 million objects takes 1 GB. */
const usual: GitLimits = { memoryBytes: 2_000_000_000, fileBytes: 10_000_000_000 };

/** Returns the limits for a fetch, which may use half of the free disk space, so that no remote can fill the disk. */
export async function limitsIn(folder: string): Promise<GitLimits> {
  const { bavail, bsize } = await statfs(folder);
  return { ...usual, fileBytes: Math.min(usual.fileBytes, Math.floor((bavail * bsize) / 2)) };
}

/** Added to the time limit that the service enforces. `timeout` then ends git even if the service was killed. */
const graceSeconds = 60;

/**
 * Returns the commands that git is wrapped in: `timeout` and resource limits. If the service is killed, the kernel
 * signals `timeout`, which ends its whole process group. Git alone would leave its transport processes running.
 */
export function guarded({ limitSeconds = remoteSeconds }: Remote, { memoryBytes, fileBytes } = usual): string[] {
  const [setpriv, timeout, prlimit] = ['/usr/bin/setpriv', '/usr/bin/timeout', '/usr/bin/prlimit'];
  if (![setpriv, timeout, prlimit].every((path) => existsSync(path))) return [];
  const time = [timeout, '--kill-after=5', String(limitSeconds + graceSeconds)];
  return [setpriv, '--pdeathsig', 'TERM', ...time, prlimit, `--fsize=${fileBytes}`, `--data=${memoryBytes}`, '--'];
}

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
      const { fetchPull } = checkout;
      return {
        ...checkout,
        fetch: (branch) => retried(() => checkout.fetch(branch), signal),
        ...(fetchPull && { fetchPull: (...given) => retried(() => fetchPull(...given), signal) }),
        fetchCommit: (commit) => retried(() => checkout.fetchCommit(commit), signal),
        push: (commit, branch) => retried(() => checkout.push(commit, branch), signal),
        pushAside: (commit, name) => retried(() => checkout.pushAside(commit, name), signal),
        removeAside: (name) => retried(() => checkout.removeAside(name), signal),
      };
    },
  };
}

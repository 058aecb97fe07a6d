import pRetry, { AbortError } from 'p-retry';
import { RunFailed } from '../../domain/run.ts';

const attempts = 3;

/** Repeats work that may have failed because of a temporary fault of the network. A refusal or a full disk is final. */
export function retried<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const once = () =>
    work().catch((error: Error & { code?: string }) => {
      throw error instanceof RunFailed || error.code === 'ENOSPC' ? new AbortError(error) : error;
    });
  return pRetry(once, { retries: attempts - 1, minTimeout: 500, signal });
}

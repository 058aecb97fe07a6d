import { GitFailed, type GitFault } from './engine.ts';

/** Runs something of the library and translates what it throws. @throws GitFailed, or the reason of the signal */
export async function told<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await act();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof GitFailed) throw error;
    throw new GitFailed(faultOf(error), `git: ${(error as Error).message.split('\n')[0]}`);
  }
}

function faultOf(error: unknown): GitFault {
  const { name, data, code } = error as { name?: string; code?: string; data?: { statusCode?: number } };
  if (name === 'HttpError') {
    if (data?.statusCode === 401 || data?.statusCode === 403) return 'auth';
    return data?.statusCode === 404 ? 'missing' : 'unreachable';
  }
  if (name === 'UserCanceledError') return 'auth';
  if (name === 'PushRejectedError' || name === 'GitPushError') return 'rejected';
  if (name === 'NotFoundError') return 'missing';
  if (['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EAI_AGAIN', 'EPIPE'].includes(code ?? ''))
    return 'unreachable';
  return /timed out|socket hang up/i.test((error as Error).message) ? 'unreachable' : 'broken';
}

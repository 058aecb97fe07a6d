import { GitFailed, type GitFault } from '../engine.ts';
import { answerFault } from '../native/curl-trace.ts';

/** Calls the library and translates its errors. @throws GitFailed, or the reason of the signal */
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
  const { name, data } = error as { name?: string; data?: { statusCode?: number } };
  if (name === 'HttpError') {
    return answerFault({ status: data?.statusCode ?? 0, retryAfterMs: undefined })?.fault ?? 'broken';
  }
  if (name === 'UserCanceledError') return 'auth';
  // The host accepted the push but failed to process it.
  if (name === 'GitPushError' && /internal server error|unpacker error/i.test((error as Error).message))
    return 'unreachable';
  if (name === 'PushRejectedError' || name === 'GitPushError') return 'rejected';
  if (name === 'NotFoundError') return 'missing';
  return 'broken';
}

import { isDatabaseAway } from '../db/database.ts';
import { type Failure, type FailureCategory, failure, RunFailed } from '../domain/run.ts';
import { AppError } from '../errors.ts';
import { GitFailed, type GitFault } from '../git/engine.ts';
import { HostClosed } from '../git/remote-url.ts';
import { UnfitWorkTree } from '../git/work-tree.ts';
import { LeaseLost } from './store.ts';

const gitCategories: Record<GitFault, FailureCategory> = {
  auth: 'auth',
  missing: 'repository',
  unreachable: 'repository',
  slow: 'repository',
  rejected: 'push_rejected',
  broken: 'repository',
};

/**
 * What an error means for its run. Undefined when it is none of the run's own: the run was cancelled or taken over, the
 * process stops, or the database is away; then whoever holds the run next goes on.
 */
export function asFailure(error: unknown, outer: AbortSignal): Failure | undefined {
  if (error instanceof LeaseLost || outer.aborted || isDatabaseAway(error)) return undefined;
  if (error instanceof RunFailed) return error.failure;
  if (error instanceof GitFailed) return failure(gitCategories[error.fault], error.message);
  if (error instanceof UnfitWorkTree) return failure('push_rejected', error.message);
  if (error instanceof HostClosed) return failure('repository', error.message);
  if (error instanceof AppError) return failure(error.status === 503 ? 'auth' : 'internal', error.message);
  const { name, status, code } = error as { name?: string; status?: number; code?: string };
  if (name === 'TimeoutError') return failure('timeout', 'the time for a run is over');
  if (name === 'HttpError' && status !== undefined) return fromGitHub(status, error as Error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return failure('repository', "the repository's host name is unknown");
  return failure('internal', 'something went wrong inside the service; its log has the details');
}

function fromGitHub(status: number, error: Error): Failure {
  const said = `GitHub answered HTTP ${status}: ${error.message.slice(0, 300)}`;
  if (status === 429 || /rate limit/i.test(error.message)) return failure('rate_limit', said);
  if (status === 401 || status === 403) return failure('auth', said);
  if (status === 404) return failure('repository', said);
  return failure(status === 422 ? 'push_rejected' : 'internal', said);
}

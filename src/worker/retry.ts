import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../db/database.ts';
import { type Failure, type FailureCategory, failure, LeaseLost, RunFailed } from '../domain/run.ts';
import { withAdvice } from '../domain/text/github-advice.ts';
import { growingPauseMs } from '../domain/waiting.ts';
import { AppError, graphqlRefusal } from '../errors.ts';
import { GitFailed, type GitFault, isTransientFault } from '../git/engine.ts';
import { HostClosed } from '../git/remote-url.ts';
import { UnfitWorkTree } from '../git/work-tree/read-inside.ts';
import { isPushUnseen, isTransientError, pauseAsked, retryAfterSeconds } from '../outgoing/github-errors.ts';
import type { Journal } from '../runs/journal.ts';
import type { HostOutage } from '../runs/waiting/park.ts';
import { currentSpan } from '../tracing/traced.ts';

const gitCategories: Record<GitFault, FailureCategory> = {
  auth: 'auth',
  missing: 'repository',
  unreachable: 'repository',
  not_git: 'repository',
  slow: 'repository',
  rejected: 'push_rejected',
  broken: 'repository',
};

/**
 * Converts an error to the failure of its run. Returns undefined when another worker should continue the run: it was
 * taken over, the process stops, or the worker lacks a resource. Also returns undefined for a cancelled run.
 */
export function asFailure(error: unknown, outer: AbortSignal): Failure | undefined {
  if (error instanceof LeaseLost || outer.aborted || lackOf(error) !== undefined) return undefined;
  if (error instanceof RunFailed) return error.failure;
  if (error instanceof GitFailed) {
    const isRetryable = isTransientFault(error.fault) || error.fault === 'slow';
    return ofWorkflow(error) ?? failure(gitCategories[error.fault], error.message, isRetryable);
  }
  if (error instanceof UnfitWorkTree) return failure('push_rejected', error.message);
  if (error instanceof HostClosed) return failure('repository', error.message);
  if (error instanceof AppError) return failure(error.status === 503 ? 'auth' : 'internal', error.message);
  if ((error as Error).name === 'TimeoutError') return failure('timeout', 'a step of the run took too long');
  const known = ofGitHub(error as Error & { status?: number });
  return known ?? failure('internal', 'an internal error occurred; the log of the service has the details');
}

/**
 * Explains why GitHub refused a push for the sake of a workflow, although agents cannot change workflows. GitHub accepts
 * a workflow only as another branch of the repository has it. A run that merged the base branch pushes the workflows of
 * that moment, or what git made of both sides (https://github.com/radius-project/docs/issues/1271).
 */
function ofWorkflow({ message }: GitFailed): Failure | undefined {
  if (!/refusing to allow .* workflow/i.test(message)) return undefined;
  return failure(
    'conflict',
    `${message}. The base branch has changed it since the run merged it, or both branches changed it. If a retry is refused too, merge the base branch into the agent's branch yourself.`,
  );
}

const lacks: [RegExp, string][] = [
  [/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/, "the worker's disk is full"],
  [/EMFILE|ENFILE|Too many open files/, 'the worker has too many files open'],
  [
    /ENOMEM|EAGAIN|Cannot allocate memory|Resource temporarily unavailable/,
    'the worker has no memory or processes left',
  ],
];

/** Names the resource that the worker lacks, for the log of the run. Returns undefined for other errors. */
export function lackOf(error: unknown): string | undefined {
  if (isDatabaseAway(error)) return 'the database cannot be reached, or cannot write';
  const { code, message } = error as { code?: unknown; message?: unknown };
  const isOfSystem = typeof code === 'string' || (error instanceof GitFailed && error.fault === 'broken');
  return isOfSystem ? lacks.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1] : undefined;
}

/** Explains an error of GitHub's REST API or of GraphQL; undefined for others. */
function ofGitHub(error: Error & { status?: number }): Failure | undefined {
  const { name, status } = error;
  if (name === 'HttpError' && status !== undefined) return fromGitHub(status, error);
  const refusal = graphqlRefusal(error);
  return refusal && failure(refusal.isForbidden ? 'auth' : 'repository', `GitHub refused: ${lineOf(refusal.reason)}`);
}

function fromGitHub(status: number, error: Error): Failure {
  const said = saidBy(error, status);
  if (pauseAsked(error) !== undefined || /rate limit/i.test(error.message)) return failure('rate_limit', said);
  if (status === 401 || status === 403) return failure('auth', said);
  if (status === 404) return failure('repository', said);
  if (isTransientError(error)) return failure('repository', said, true);
  return failure(status === 422 ? 'push_rejected' : 'internal', said);
}

/** Says how a request to GitHub failed. Octokit also reports network errors as status 500, but without a response. */
export function saidBy(error: Error, status: number): string {
  const isAnswer = status < 500 || (error as { response?: unknown }).response !== undefined;
  const what = isAnswer ? `answered HTTP ${status}` : 'could not be reached';
  return withAdvice(`GitHub ${what}: ${lineOf(error.message)}`);
}

const lineOf = (message: string) => message.replace(/\s+/g, ' ').slice(0, 300);

/** How many times a step is retried because GitHub may not know a pushed commit yet. It is a matter of seconds. */
const unseenRetries = 2;

/**
 * Describes a temporary error: the text for people, and the pause in milliseconds that the host asked for. Returns
 * undefined for permanent errors. `tries` is the number of earlier retries.
 */
export function temporaryFault(error: unknown, tries = 0): { says: string; afterMs: number | undefined } | undefined {
  if (error instanceof GitFailed)
    return isTransientFault(error.fault) ? { says: error.message, afterMs: error.retryAfterMs } : undefined;
  const { name, status } = error as { name?: string; status?: number };
  if (name !== 'HttpError' || status === undefined) return undefined;
  const asked = pauseAsked(error);
  const maySeeLater = tries < unseenRetries && isPushUnseen(error);
  if (asked === undefined && !isTransientError(error) && !maySeeLater) return undefined;
  const seconds = asked ?? retryAfterSeconds(error);
  return { says: saidBy(error as Error, status), afterMs: seconds === undefined ? undefined : seconds * 1000 };
}

/** Describes the outage of a host for which a run waits without a slot. Returns undefined for all other errors. */
export function hostOutage(error: unknown, outer: AbortSignal): HostOutage | undefined {
  const failure = asFailure(error, outer);
  // GitHub knows a pushed commit within seconds. After all retries, a wait would not help.
  const fault = failure && temporaryFault(error, unseenRetries);
  return fault && failure && { failure, askedMs: fault.afterMs };
}

/**
 * Retries a step of a run while the git host or GitHub cannot be reached. Steps must be safe to repeat: they check what
 * exists before they create anything. They have to do so anyway, because another worker may take over the run at any
 * point.
 */
export type RetryPolicy = <T>(step: () => Promise<T>) => Promise<T>;

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

interface About {
  journal: Pick<Journal, 'note'>;
  /** Aborting it also ends a pause. */
  signal: AbortSignal;
  /** Total time that the run may spend on pauses and retries. */
  seconds: number;
  /** When the time of the run is up. No step is retried after that. */
  endsAt: () => number;
}

/**
 * Creates the retry function of one run. All steps share the time in `seconds`. The pause grows with each retry of a
 * step and is longer if the host asks for it. Each pause adds a line to the log of the run.
 */
export function retryPolicyOf(about: About): RetryPolicy {
  let leftMs = about.seconds * 1000;
  return async (step) => {
    let failedAt: number | undefined;
    try {
      for (let tries = 0; ; tries++)
        try {
          return await step();
        } catch (error) {
          failedAt ??= performance.now();
          await pauseAfter(error, tries, Math.min(failedAt + leftMs, about.endsAt()), about);
        }
    } finally {
      if (failedAt !== undefined) leftMs -= performance.now() - failedAt;
    }
  };
}

/**
 * Waits before the next try.
 * @throws the given error when it is permanent or the pause would end after the deadline
 */
async function pauseAfter(error: unknown, tries: number, deadline: number, { journal, signal }: About): Promise<void> {
  const found = signal.aborted ? undefined : temporaryFault(error, tries);
  const pauseMs = Math.max(growingPauseMs(tries, firstPauseMs, longestPauseMs), found?.afterMs ?? 0);
  if (found === undefined || pauseMs > deadline - performance.now()) throw error;
  await journal.note('repository', `${found.says}; trying again in ${Math.ceil(pauseMs / 1000)} s`);
  currentSpan()?.note('retry', { 'deckhand.pause.ms': pauseMs });
  await sleep(pauseMs, undefined, { signal });
}

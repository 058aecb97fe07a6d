import { retryAfterMs } from '../domain/waiting.ts';
import { refusedAnswer } from '../errors.ts';

/** The pause for rate limits that do not name one. GitHub's documentation asks for a minute. */
const unnamedPauseSeconds = 60;

/** GitHub accepts no calls for now. The API replies 502, and a job is retried later. */
export class RateLimited extends Error {
  readonly status = 429;
  readonly seconds: number;

  constructor(ms: number) {
    const seconds = Math.ceil(ms / 1000);
    super(`GitHub's rate limit is reached; next try in ${seconds} s`);
    this.name = 'HttpError';
    this.seconds = seconds;
  }
}

/** Returns whether GitHub failed to respond and may succeed next time. */
export function isTransientError(error: unknown): boolean {
  // Octokit reports everything that `fetch` throws with status 500.
  return ((error as { status?: number }).status ?? 500) >= 500 && refusedAnswer(error) === undefined;
}

/** Returns the host of a request to GitHub that got no answer; undefined for all other errors. */
export function unreachableHost(error: unknown): string | undefined {
  const { name, status, response, request } = error as {
    name?: string;
    status?: number;
    response?: unknown;
    request?: { url?: string };
  };
  // Octokit reports network errors as status 500, but without a response.
  if (name !== 'HttpError' || status !== 500 || response !== undefined) return undefined;
  return URL.parse(request?.url ?? '')?.host;
}

/** Says that GitHub could not be reached or what it answered; undefined for errors that are not about it. */
export function saysOfGitHub(error: unknown): string | undefined {
  const { name, status } = error as { name?: string; status?: number };
  if (name !== 'HttpError' || status === undefined) return undefined;
  const host = unreachableHost(error);
  return host === undefined ? `GitHub answered HTTP ${status}` : `GitHub cannot be reached at ${host}`;
}

/** Returns whether GitHub refused permanently with one of these statuses, and not because of a rate limit. */
export function isRefusedWith(error: unknown, ...statuses: number[]): boolean {
  const { status } = error as { status?: number };
  return status !== undefined && statuses.includes(status) && pauseAsked(error) === undefined;
}

/**
 * Returns whether GitHub refused a pull request as it does right after a push, before all of its servers know the commit:
 * "No commits between", or an invalid `head`. It says the same of a branch without commits, or that does not exist.
 */
export function isPushUnseen(error: unknown): boolean {
  const { message = '' } = error as { message?: string };
  return (
    isRefusedWith(error, 422) &&
    /No commits between|"field":"head".*"code":"invalid"|"code":"invalid".*"field":"head"/.test(message)
  );
}

/** Returns the pause in seconds that a failing server asks for. */
export function retryAfterSeconds(error: unknown): number | undefined {
  const { response } = error as { response?: { headers: Record<string, string | undefined> } };
  const ms = retryAfterMs(response?.headers['retry-after']);
  return ms === undefined ? undefined : ms / 1000;
}

/**
 * Returns in how many seconds GitHub's limit is reset, NaN if it does not say. Both times are GitHub's where possible: by a clock
 * that is ahead, the limit would seem to be reset already.
 */
export function secondsUntilReset(headers: Record<string, string | number | undefined>): number {
  const now = Date.parse(String(headers.date ?? ''));
  return Number(headers['x-ratelimit-reset']) - (Number.isNaN(now) ? Date.now() : now) / 1000;
}

/** Returns the pause in seconds that GitHub asks for, or undefined for errors that are not about rate limits. */
export function pauseAsked(error: unknown): number | undefined {
  if (error instanceof RateLimited) return error.seconds;
  const { status, response, message } = error as {
    status?: number;
    message?: string;
    response?: { headers: Record<string, string | undefined> };
  };
  if (status !== 403 && status !== 429) return undefined;
  const after = retryAfterSeconds(error);
  if (after !== undefined) return after;
  if (response?.headers['x-ratelimit-remaining'] === '0')
    return Math.max(1, secondsUntilReset(response.headers) || unnamedPauseSeconds);
  return status === 429 || /secondary rate limit/i.test(message ?? '') ? unnamedPauseSeconds : undefined;
}

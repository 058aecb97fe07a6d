import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Octokit, PacedRequest } from '../../app.ts';
import type { Database } from '../../db/database.ts';
import { assertLock } from '../../db/locks.ts';
import { retryAfterMs } from '../../domain/waiting.ts';
import type { Metrics } from '../../http/metrics.ts';
import { isTransientError, pauseAsked, RateLimited, secondsUntilReset } from '../../outgoing/github-errors.ts';
import { currentPerson } from '../../threads/tenant.ts';
import { type Describe, traced } from '../../tracing/traced.ts';

/**
 * Reserves the next free write slot of an installation; the slot after it starts `intervalMs` later. Returns the time
 * until the slot, in milliseconds. When the installation is parked for longer than `longestWaitMs`, reserves nothing
 * and returns undefined, so that later writes do not queue behind an abandoned slot.
 */
async function takeWriteSlot(
  db: Database,
  installationId: number,
  intervalMs: number,
  longestWaitMs: number,
): Promise<number | undefined> {
  const [row] = await db.prepared<{ seconds: number }>(
    'pace write',
    `insert into github_pace as p (installation_id, next_write_at, hour, hour_writes)
       values ($1, now() + make_interval(secs => $2::float8), date_trunc('hour', now()), 1)
     on conflict (installation_id) do update
       set next_write_at = greatest(now(), p.next_write_at, p.parked_until) + make_interval(secs => $2::float8),
         hour = date_trunc('hour', now()),
         hour_writes = case when p.hour = date_trunc('hour', now()) then p.hour_writes + 1 else 1 end
       where p.parked_until < now() + make_interval(secs => $3::float8)
     returning extract(epoch from next_write_at - now()) - $2::float8 as seconds`,
    [installationId, intervalMs / 1000, longestWaitMs / 1000],
  );
  return row && inMilliseconds(row.seconds);
}

/** Returns how long an installation stays parked, in milliseconds; 0 when it is not parked. */
async function readParkedTime(db: Database, installationId: number): Promise<number> {
  const [row] = await db.prepared<{ seconds: number }>(
    'pace read',
    'select extract(epoch from parked_until - now())::float8 as seconds from github_pace where installation_id = $1',
    [installationId],
  );
  return row === undefined ? 0 : inMilliseconds(row.seconds);
}

/** Parks an installation: no request is sent to GitHub for this many seconds. */
async function parkInstallation(db: Database, installationId: number, seconds: number): Promise<void> {
  await db.prepared(
    'park',
    `insert into github_pace as p (installation_id, parked_until) values ($1, now() + make_interval(secs => $2::float8))
     on conflict (installation_id) do update
       set parked_until = greatest(p.parked_until, now() + make_interval(secs => $2::float8))`,
    [installationId, seconds],
  );
}

/** Forgets the pace of those who have written nothing for a day, and are not parked. */
export async function forgetOldPaces(db: Database): Promise<void> {
  await db.prepared(
    'forget paces',
    `delete from github_pace where greatest(next_write_at, parked_until) < now() - interval '1 day'`,
    [],
  );
}

/** GitHub allows about this many writes per hour that create content (docs.github.com, "Rate limits"). */
const writesPerHour = 500;

/** Returns how many writes the installation has left in this hour. */
export async function writesLeft(db: Database, installationId: number): Promise<number> {
  const [row] = await db.prepared<{ writes: number }>(
    'writes left',
    `select hour_writes as writes from github_pace where installation_id = $1 and hour = date_trunc('hour', now())`,
    [installationId],
  );
  return Math.max(0, writesPerHour - (row?.writes ?? 0));
}

function inMilliseconds(seconds: number): number {
  return Math.max(0, Math.round(seconds * 1000));
}

/** Replaces the installation's number when the App's own calls are paced. GitHub counts those calls separately. */
export const appItself = 0;

/** Replaces the installation's number when calls without a token are paced. */
export const withoutToken = -1;

export interface Pace {
  db: Database;
  metrics: Metrics;
  /** Minimum time between two writes of one installation. GitHub asks for one second. */
  intervalMs: number;
}

/** A call that would have to wait longer fails with `RateLimited`, and its job is retried later. */
const longestWaitMs = 60_000;
/** GitHub itself gives up on a request after 10 s. */
const answerMs = 20_000;
/** Pauses before a read is repeated. Writes are never repeated: whether they arrived is unknown. */
const readRetriesMs = [300, 1000];

/** Thrown when a proxy in front of GitHub responds with a web page. Some do so with status 200 while GitHub is down. */
class PageAnswered extends Error {
  readonly status = 502;
  readonly response = { headers: {} };

  constructor() {
    super('a web page instead of an API answer');
    this.name = 'HttpError';
  }
}

/** GraphQL has a budget of its own, so the other calls of an installation need not wait for it. */
class GraphqlLimited extends RateLimited {}

/** Thrown when GraphQL had no result within its time. It says so with status 200. */
class GraphqlFailed extends Error {
  readonly status = 502;
  readonly response = { headers: {} };

  constructor(message: string) {
    super(`GraphQL: ${message}`);
    this.name = 'HttpError';
  }
}

const GraphqlErrors = z.object({
  errors: z.array(z.object({ type: z.string().optional(), message: z.string() })).min(1),
});
const unnamedPauseMs = 60_000;

/**
 * Returns the error that a GraphQL answer with status 200 stands for, if GitHub may answer later: a limit, or a fault of its
 * own (docs.github.com, "Rate limits and query limits for the GraphQL API"). Other errors are about the query.
 */
function graphqlFault({ status, data, headers }: Answer): Error | undefined {
  const answer = GraphqlErrors.safeParse(status === 200 ? data : undefined);
  for (const { type = '', message } of answer.data?.errors ?? []) {
    const reset = secondsUntilReset(headers) * 1000;
    if (type.startsWith('RATE_LIMIT')) return new GraphqlLimited(reset > 0 ? reset : unnamedPauseMs);
    if (/secondary rate limit/i.test(message))
      return new RateLimited(retryAfterMs(String(headers['retry-after'] ?? '')) ?? unnamedPauseMs);
    if (/^something went wrong while executing/i.test(message)) return new GraphqlFailed(message);
  }
  return undefined;
}

/** One API call of an installation. */
interface Call<Response> {
  installationId: number;
  isWrite: boolean;
  /** Whether the response is HTML. GitHub renders Markdown so; all other responses of its API are JSON or redirects. */
  isHtml: boolean;
  isGraphql: boolean;
  /** What it is about, as `owner/name` in lower case; undefined if its address does not say it. */
  repository: string | undefined;
  /** Aborted when the caller no longer needs the response. */
  signal: AbortSignal | undefined;
  rightBefore: PacedRequest['rightBefore'];
  isAhead: boolean;
  send(signal: AbortSignal): Promise<Response>;
}

const urgent = new AsyncLocalStorage<true>();

/**
 * Calls a function that takes back what check runs say. Its requests to GitHub may use more of the hour than others: until it is done,
 * somebody can merge a pull request whose proof no longer counts.
 */
export function urgently<T>(act: () => T): T {
  return urgent.run(true, act);
}

const strange = new AsyncLocalStorage<true>();

/**
 * Calls a function that handles what a stranger did. Anybody can push to a fork a hundred times a minute, so its requests to GitHub may
 * use only a small part of the hour.
 */
export function forStranger<T>(act: () => T): T {
  return strange.run(true, act);
}

/** Returns for how many ms strangers may not use GitHub's hour for a repository, `owner/name`; undefined if they may. */
export function pauseOfStrangers(
  { githubQuota }: Metrics,
  installationId: number,
  repository: string,
): number | undefined {
  return githubQuota.pauseOf(installationId, { repository: repository.toLowerCase(), isOfStranger: true }, 'core');
}

/** Returns whether what is handled now is what a stranger did. */
export const isForStranger = () => strange.getStore() === true;

/**
 * Keeps the pace that GitHub asks for (docs.github.com, "Best practices for using the REST API"). The writes of an
 * installation are sent one at a time and a second apart, across all workers, and nothing is sent during a
 * `retry-after`. Reads are retried when GitHub fails to respond. Writes are not retried: code that writes first checks
 * whether the result already exists.
 */
export function keepPace(octokit: Octokit, installationId: number, pace: Pace): Octokit {
  octokit.hook.wrap('request', async (request, options) => {
    const isGraphql = options.url.endsWith('/graphql');
    const isQuery = isGraphql && !/^\s*mutation\b/.test(String(options.query));
    const isWrite = !isQuery && !['GET', 'HEAD'].includes(options.method ?? 'GET');
    const asked = (options.request ?? {}) as PacedRequest & { signal?: AbortSignal };
    const { signal, rightBefore, isAhead = false } = asked;
    const call = {
      installationId,
      isWrite,
      isHtml: options.url === '/markdown',
      isGraphql,
      repository: repositoryOf(options),
      signal,
      rightBefore,
      isAhead,
      send: async (either: AbortSignal) => request({ ...options, request: { ...options.request, signal: either } }),
    };
    const method = options.method ?? 'GET';
    // The template of the address, without the parts that are filled in. Links to further pages have none.
    const template = options.url.startsWith('/') ? options.url.split('?')[0] : undefined;
    const attributes = {
      'http.request.method': method,
      'url.template': template,
      'server.address': URL.parse(options.baseUrl)?.hostname,
    };
    const act = async (describe: Describe) => {
      const answer = await perform(pace, call);
      describe({ 'http.response.status_code': answer.status });
      return answer;
    };
    return traced(`GitHub ${method}${template === undefined ? '' : ` ${template}`}`, attributes, act, 'client');
  });
  return octokit;
}

/**
 * Returns what a request is about, from its parameters, the variables of its query, or its address: lists are read from whole
 * addresses, and GitHub's links to further pages name the repository by its number.
 */
function repositoryOf(options: object): string | undefined {
  const { owner, repo, name, variables, url } = options as Record<string, unknown>;
  if (variables !== undefined) return repositoryOf(variables as object);
  const called = repo ?? name;
  if (typeof owner === 'string' && typeof called === 'string') return `${owner}/${called}`.toLowerCase();
  const [, named, number] = /\/(?:repos\/([^/?{}]+\/[^/?{}]+)|repositories\/(\d+))/.exec(String(url)) ?? [];
  return (named ?? number)?.toLowerCase();
}

type Answer = { status: number; data: unknown; headers: Record<string, string | number | undefined> };

async function perform<Response extends Answer>(pace: Pace, call: Call<Response>): Promise<Response> {
  const retriesMs = call.isWrite ? [] : readRetriesMs;
  for (let tries = 0; ; tries++) {
    await awaitSlot(pace, call);
    try {
      return await attempt(pace, call);
    } catch (error) {
      const pauseMs = retriesMs[tries];
      if (pauseMs === undefined || !isTransientError(error)) throw error;
      await sleep(pauseMs);
    }
  }
}

/**
 * Waits for the write slot of a call, or until its installation is no longer parked.
 * @throws RateLimited when the wait would be too long, LockLost, or the reason of the caller's signal
 */
async function awaitSlot<Response>(pace: Pace, call: Call<Response>): Promise<void> {
  assertShare(pace, call);
  const { installationId, isWrite, signal, rightBefore, isAhead } = call;
  const waitMs =
    isWrite && !isAhead
      ? await takeWriteSlot(pace.db, installationId, pace.intervalMs, longestWaitMs)
      : await readParkedTime(pace.db, installationId);
  if (waitMs === undefined || waitMs > longestWaitMs) throw new RateLimited(waitMs ?? longestWaitMs);
  if (waitMs > 0) await sleep(waitMs, undefined, signal === undefined ? {} : { signal });
  await rightBefore?.();
  // While this worker was suspended, another worker may have taken over its job. That worker then does the write.
  if (isWrite) await assertLock();
  signal?.throwIfAborted();
}

/**
 * Refuses a call when little is left of what an installation may ask in this hour, and the person or repository has used much of it:
 * the rest is for the others. Writes for nobody in particular are not refused: they are sent a second apart, so they are few.
 * @throws RateLimited
 */
function assertShare<Response>({ metrics }: Pace, call: Call<Response>): void {
  const { installationId, isGraphql, isWrite } = call;
  const asker = askerOf(call);
  if (isWrite && asker.person === undefined && !asker.isOfStranger) return;
  const pauseMs = metrics.githubQuota.pauseOf(installationId, asker, isGraphql ? 'graphql' : 'core');
  if (pauseMs !== undefined) throw isGraphql ? new GraphqlLimited(pauseMs) : new RateLimited(pauseMs);
}

const askerOf = <Response>({ repository }: Call<Response>) => ({
  person: currentPerson(),
  repository,
  isUrgent: urgent.getStore(),
  isOfStranger: strange.getStore(),
});

/** Sends the call once. When GitHub asks for a pause, parks the installation, so that all of its calls wait. */
async function attempt<Response extends Answer>(pace: Pace, call: Call<Response>): Promise<Response> {
  const { installationId, isHtml, isGraphql, signal, send } = call;
  try {
    const timeout = AbortSignal.timeout(answerMs);
    const response = await send(signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    noteQuota(pace, call, response.headers);
    if (isPage(response, isHtml)) throw new PageAnswered();
    const fault = isGraphql ? graphqlFault(response) : undefined;
    if (fault !== undefined) throw fault;
    count(pace, call);
    return response;
  } catch (error) {
    count(pace, call, error);
    const { status, response } = error as { status?: number; response?: { headers?: Answer['headers'] } };
    // GitHub counts what it refuses, too. To a token that it does not know, it names the hour of those who have none.
    if (status !== 401) noteQuota(pace, call, response?.headers ?? {});
    const pauseSeconds = pauseAsked(error);
    if (pauseSeconds !== undefined && !(error instanceof GraphqlLimited)) {
      pace.metrics.githubParked.inc();
      await parkInstallation(pace.db, installationId, pauseSeconds);
    }
    throw error;
  }
}

function noteQuota<Response>({ metrics }: Pace, call: Call<Response>, headers: Answer['headers']): void {
  // Nobody else has the hour of a project's own token.
  if (call.installationId >= withoutToken) metrics.githubQuota.note(call.installationId, headers, askerOf(call));
}

function count<Response>({ metrics }: Pace, { isWrite, signal }: Call<Response>, error?: unknown): void {
  if (isWrite) metrics.githubWrites.inc({ outcome: error === undefined ? 'ok' : 'failed' });
  // Nobody waits for the answer any more.
  if (error !== undefined && signal?.aborted) return;
  metrics.githubRequests.inc({ outcome: error !== undefined && isTransientError(error) ? 'failed' : 'answered' });
}

/** Returns whether a successful response is a web page. Rendered Markdown never begins like one. */
function isPage({ status, data, headers }: Answer, isHtml: boolean): boolean {
  if (status > 299 || !/^text\/html\b/.test(String(headers['content-type'] ?? ''))) return false;
  return !isHtml || /^\s*<(!doctype|html)\b/i.test(String(data));
}

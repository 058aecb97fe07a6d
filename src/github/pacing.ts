import { setTimeout as sleep } from 'node:timers/promises';
import type { Octokit } from '../app.ts';
import type { Database } from '../db/database.ts';
import { assertTurn } from '../db/turns.ts';
import { retryAfterMs } from '../domain/patience.ts';
import { refusedAnswer } from '../errors.ts';
import type { Metrics } from '../http/metrics.ts';

export interface Pace {
  db: Database;
  metrics: Metrics;
  /** Least time between two writes of one installation; GitHub asks for a second. */
  intervalMs: number;
}

/** Whoever would have to wait longer is told so instead; a job comes back later. */
const longestWaitMs = 60_000;
/** GitHub gives up on a request after 10 s itself. */
const answerMs = 20_000;
const readRetriesMs = [300, 1000];
/** GitHub names no time with some secondary limits; a minute is what its documentation asks for then. */
const unnamedPauseSeconds = 60;

/** GitHub wants no calls for now; ends up as 502 at the API and as a later try of a job. */
export class Parked extends Error {
  readonly status = 429;
  readonly seconds: number;

  constructor(ms: number) {
    const seconds = Math.ceil(ms / 1000);
    super(`GitHub's rate limit is reached; next try in ${seconds} s`);
    this.name = 'HttpError';
    this.seconds = seconds;
  }
}

/** Proxies in front of GitHub may answer with a web page while GitHub is away, sometimes with status 200. */
class PageAnswered extends Error {
  readonly status = 502;
  readonly response = { headers: {} };

  constructor() {
    super('a web page instead of an API answer');
    this.name = 'HttpError';
  }
}

/**
 * Keeps the pace GitHub asks for (docs.github.com, "Best practices for using the REST API"): writes of an installation
 * one after the other and a second apart, over all workers together; nothing at all inside a `retry-after`. Reads are
 * tried again when GitHub stumbles, writes never: who writes looks up first.
 */
export function keepPace(octokit: Octokit, installationId: number, pace: Pace): Octokit {
  octokit.hook.wrap('request', async (request, options) => {
    const isWrite = !['GET', 'HEAD'].includes(options.method ?? 'GET');
    for (let tries = 0; ; tries++) {
      const waitMs = await turnIn(pace, installationId, isWrite);
      if (waitMs > longestWaitMs) throw new Parked(waitMs);
      const given = (options.request as { signal?: AbortSignal } | undefined)?.signal;
      if (waitMs > 0) await sleep(waitMs, undefined, given === undefined ? {} : { signal: given });
      // A worker that was suspended leaves the write to the worker that took over.
      if (isWrite) await assertTurn();
      given?.throwIfAborted();
      try {
        const late = AbortSignal.timeout(answerMs);
        const signal = given === undefined ? late : AbortSignal.any([given, late]);
        const response = await request({ ...options, request: { ...options.request, signal } });
        if (/^text\/html\b/.test(response.headers['content-type'] ?? '')) throw new PageAnswered();
        if (isWrite) pace.metrics.githubWrites.inc({ outcome: 'ok' });
        return response;
      } catch (error) {
        if (isWrite) pace.metrics.githubWrites.inc({ outcome: 'failed' });
        const pause = pauseAsked(error);
        if (pause !== undefined) await park(pace, installationId, pause);
        const pauseMs = readRetriesMs[tries];
        if (isWrite || pauseMs === undefined || !isStumble(error)) throw error;
        await sleep(pauseMs);
      }
    }
  });
  return octokit;
}

/** Whether GitHub failed to answer and may succeed next time. */
export function isStumble(error: unknown): boolean {
  // Octokit reports everything that `fetch` throws with status 500.
  return ((error as { status?: number }).status ?? 500) >= 500 && refusedAnswer(error) === undefined;
}

/** Takes the next free turn; how long until it comes. */
async function turnIn({ db, intervalMs }: Pace, installationId: number, isWrite: boolean): Promise<number> {
  const statement = isWrite
    ? `insert into github_pace as p (installation_id, next_write_at, hour, hour_writes)
         values ($1, now() + make_interval(secs => $2::float8), date_trunc('hour', now()), 1)
       on conflict (installation_id) do update
         set next_write_at = greatest(now(), p.next_write_at, p.parked_until) + make_interval(secs => $2::float8),
           hour = date_trunc('hour', now()),
           hour_writes = case when p.hour = date_trunc('hour', now()) then p.hour_writes + 1 else 1 end
         where p.parked_until < now() + make_interval(secs => $3::float8)
       returning extract(epoch from next_write_at - now()) - $2::float8 as seconds`
    : `select extract(epoch from parked_until - now()) as seconds from github_pace
       where installation_id = $1 and $2::float8 >= 0 and $3::float8 > 0`;
  const [row] = await db.prepared<{ seconds: string }>(isWrite ? 'pace write' : 'pace read', statement, [
    installationId,
    intervalMs / 1000,
    longestWaitMs / 1000,
  ]);
  // Parked for longer than anybody waits, a write takes no turn; those who come later should not stand behind it.
  if (row === undefined && isWrite) throw new Parked(longestWaitMs);
  return Math.max(0, Math.round(Number(row?.seconds ?? 0) * 1000));
}

/** GitHub allows about that many writes an hour that make content (docs.github.com, "Rate limits"). */
const writesAnHour = 500;

/** How many writes the installation has left in this hour. */
export async function writesLeft(db: Database, installationId: number): Promise<number> {
  const [row] = await db.prepared<{ writes: number }>(
    'writes left',
    `select hour_writes as writes from github_pace where installation_id = $1 and hour = date_trunc('hour', now())`,
    [installationId],
  );
  return Math.max(0, writesAnHour - (row?.writes ?? 0));
}

async function park({ db, metrics }: Pace, installationId: number, seconds: number): Promise<void> {
  metrics.githubParked.inc();
  await db.prepared(
    'park',
    `insert into github_pace as p (installation_id, parked_until) values ($1, now() + make_interval(secs => $2::float8))
     on conflict (installation_id) do update
       set parked_until = greatest(p.parked_until, now() + make_interval(secs => $2::float8))`,
    [installationId, seconds],
  );
}

/** Whether GitHub refused with one of these statuses for good, and not because it wants to be left alone for a while. */
export function isRefusedWith(error: unknown, ...statuses: number[]): boolean {
  const { status } = error as { status?: number };
  return status !== undefined && statuses.includes(status) && pauseAsked(error) === undefined;
}

/** The pause in seconds that a failing server asks for. */
export function retryAfterSeconds(error: unknown): number | undefined {
  const { response } = error as { response?: { headers: Record<string, string | undefined> } };
  const ms = retryAfterMs(response?.headers['retry-after']);
  return ms === undefined ? undefined : ms / 1000;
}

/** For how many seconds an answer asks us to be quiet. */
export function pauseAsked(error: unknown): number | undefined {
  if (error instanceof Parked) return error.seconds;
  const { status, response, message } = error as {
    status?: number;
    message?: string;
    response?: { headers: Record<string, string | undefined> };
  };
  if (status !== 403 && status !== 429) return undefined;
  const after = retryAfterSeconds(error);
  if (after !== undefined) return after;
  if (response?.headers['x-ratelimit-remaining'] === '0')
    return Math.max(1, Number(response.headers['x-ratelimit-reset']) - Date.now() / 1000 || unnamedPauseSeconds);
  return status === 429 || /secondary rate limit/i.test(message ?? '') ? unnamedPauseSeconds : undefined;
}

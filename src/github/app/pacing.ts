import { setTimeout as sleep } from 'node:timers/promises';
import type { Octokit } from '../../app.ts';
import type { Database } from '../../db/database.ts';
import { assertTurn } from '../../db/turns.ts';
import type { Metrics } from '../../http/metrics.ts';
import { isStumble, Parked, pauseAsked } from '../../outgoing/github-errors.ts';

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

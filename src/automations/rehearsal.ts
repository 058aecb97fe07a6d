import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import type { Trigger } from '../domain/automations/automation.ts';
import { parseWithin } from '../domain/json/json-cost.ts';
import { badField, badRequest } from '../errors.ts';
import { fewAtOnce } from '../git/few-at-once.ts';
import { tenantOfProject } from '../projects/budgets.ts';
import { findRepository } from '../repositories/store.ts';
import { heardAs, isFor, readOccurrence, rehearsalDays } from './occurrences.ts';
import { type RehearsalQuery, RehearsalTrigger } from './schemas.ts';
import { dayIn, scheduleOfCron } from './times.ts';

/** How far back a rehearsal looks, and at how many times and deliveries at most. */
const [days, maxTimes, maxDeliveries] = [rehearsalDays, 2000, 2000];
/** Deliveries in memory at the same time. */
const portion = 20;
/** How long deliveries are read at most: somebody waits for the answer. */
const maxReadMs = 5000;
/** Anybody can make deliveries large. Without turns, a few viewers could use up the connections to the database. */
const readInTurn = fewAtOnce(2, 1);
const weekMs = days * 86_400_000;
/** Larger payloads are left out: only pushes of hundreds of commits are. */
const [maxBytes, maxValues] = [200_000, 50_000];
/** The most times that a reply has. */
const maxShown = 20;

interface Found {
  times: Date[];
  isAtLeast: boolean;
  next: Date[];
}

/**
 * Returns what an automation would have done in the last week, from its schedule or from the deliveries that are stored.
 * Chains of automations and the limit per day are not part of that.
 * @throws AppError 400 naming the field
 */
export async function rehearseAutomation(
  app: App,
  projectId: string,
  { repositoryId, ...on }: z.output<typeof RehearsalQuery>,
  now = new Date(),
) {
  const read = RehearsalTrigger.safeParse(on);
  if (!read.success)
    throw badRequest(
      read.error.issues.map((issue) => {
        const path = issue.path.join('.');
        return { path, message: `${path} ${issue.message}`.trim() };
      }),
    );
  const trigger = read.data;
  const zone = 'event' in trigger ? 'UTC' : trigger.timezone;
  const found = await ('event' in trigger
    ? pastEvents(app, projectId, trigger, repositoryId)
    : pastTimes(trigger, now));
  const perDay = Map.groupBy(found.times, dayIn(zone));
  return {
    days,
    count: found.times.length,
    isAtLeast: found.isAtLeast,
    mostOnADay: Math.max(0, ...[...perDay.values()].map((times) => times.length)),
    times: found.times.slice(-maxShown).reverse(),
    next: found.next,
  };
}

async function pastTimes({ cron, timezone }: { cron: string; timezone: string }, now: Date): Promise<Found> {
  const schedule = scheduleOfCron(cron, timezone);
  const times = await upcoming(schedule, new Date(now.getTime() - weekMs), maxTimes + 1, now);
  const next = await upcoming(schedule, now, 3);
  return { times: times.slice(0, maxTimes), isAtLeast: times.length > maxTimes, next };
}

/** Returns times after `from`, at most so many, and none after `to`. */
async function upcoming(
  schedule: ReturnType<typeof scheduleOfCron>,
  from: Date,
  most: number,
  to?: Date,
): Promise<Date[]> {
  const times: Date[] = [];
  for (let next = schedule.next(from, to); next !== undefined && times.length < most; next = schedule.next(next, to)) {
    times.push(next);
    // Fifty take about a millisecond; one of an expression that is never due, at most a few.
    if (times.length % 50 === 0 || to === undefined) await nextTurn();
  }
  return times;
}

async function pastEvents(
  app: App,
  projectId: string,
  trigger: Extract<Trigger, { event: string }>,
  repositoryId: string | undefined,
): Promise<Found> {
  const repository = repositoryId === undefined ? null : await findRepository(app.db.manager, repositoryId);
  if (repository?.projectId !== projectId)
    throw badField('repositoryId', 'repositoryId must be a repository of this project');
  const botId = (await app.github?.bot())?.id;
  const tenant = await tenantOfProject(app.db.manager, projectId);
  return readInTurn(tenant, new AbortController().signal, () => readDeliveries(app, { trigger, repository, botId }));
}

interface Reading {
  trigger: Extract<Trigger, { event: string }>;
  repository: RepositoryRow;
  botId: number | undefined;
}

/** Finds what would have started an automation in the stored deliveries, the newest of which are read first. */
async function readDeliveries(app: App, { trigger, repository, botId }: Reading): Promise<Found> {
  const em = app.db.manager;
  const until = performance.now() + maxReadMs;
  const guids = await listDeliveries(em, repository.projectId, heardAs[trigger.event]);
  const first = new Map<string, Date>();
  let looked = 0;
  for (; looked < guids.length && performance.now() < until; looked += portion) {
    for (const { guid, event, payload, receivedAt } of await readPayloads(em, guids.slice(looked, looked + portion))) {
      // Each takes milliseconds.
      await nextTurn();
      const read = parsed(payload);
      if (repository.githubId === null || read?.repository?.id !== repository.githubId) continue;
      const occurrence = readOccurrence({ guid, event, payload: read });
      if (occurrence === undefined || !isFor(trigger, occurrence) || occurrence.sender.id === botId) continue;
      first.set(occurrence.key, receivedAt);
    }
  }
  const times = [...first.values()].sort((a, b) => a.getTime() - b.getTime());
  return { times, isAtLeast: looked < guids.length || guids.length === maxDeliveries, next: [] };
}

function parsed(payload: string): { repository?: { id?: unknown } } | undefined {
  try {
    return parseWithin(payload, maxValues) as { repository?: { id?: unknown } };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

interface StoredDelivery {
  guid: string;
  event: string;
  payload: string;
  receivedAt: Date;
}

/** Returns deliveries of the last week to the installation of a project, newest first. */
async function listDeliveries(em: EntityManager, projectId: string, events: string[]): Promise<string[]> {
  const rows: { guid: string }[] = await em.query(
    `select guid from deliveries
     where account in (select installation_id::text from installations where project_id = $1) and event = any($2)
       and received_at > now() - make_interval(secs => $3) and payload is not null
     order by received_at desc, guid limit $4`,
    [projectId, events, weekMs / 1000, maxDeliveries],
  );
  return rows.map(({ guid }) => guid);
}

/** Reads deliveries, newest first. The length of a payload is known only once it is unpacked, so no other statement asks for it. */
async function readPayloads(em: EntityManager, guids: string[]): Promise<StoredDelivery[]> {
  return em.query(
    `select guid, event, payload as payload /* not null */, received_at as "receivedAt" from deliveries
     where guid = any($1) and payload is not null and length(payload) <= $2
     order by received_at desc, guid`,
    [guids, maxBytes],
  );
}

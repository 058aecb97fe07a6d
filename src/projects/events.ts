import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { inProject } from '../http/access/access.ts';
import { type EventStream, follow } from '../http/events.ts';
import { type Route, route } from '../http/route.ts';
import { Timestamp } from '../http/shapes.ts';

interface Told {
  id: number;
  kind: 'task' | 'run' | 'sprint';
  objectId: string;
  status: string;
  at: Date;
}

/** So far `Last-Event-ID` reaches back. */
const keptMinutes = 60;

const ProjectEvent = z.object({ id: z.string(), status: z.string(), at: Timestamp }).meta({ id: 'ProjectEvent' });

/**
 * Tells each change of the project's tasks, runs and sprints: what to look at again. A place in the stream is the number
 * of the transaction before which everything is told, and what was told of later ones; so a change that commits late is
 * told late and not lost.
 */
async function tellChanges(app: App, projectId: string, out: EventStream): Promise<void> {
  const em = app.db.manager;
  const { isReset, ...start } = await startOf(em, out.lastEventId);
  let { from, told } = start;
  if (isReset) out.send({ id: placeAt(from, []), event: 'reset', data: {} });
  // What was there when a new stream began is no news.
  if (out.lastEventId === undefined || isReset)
    told = new Set((await listChanges(em, projectId, from)).rows.map((row) => row.id));
  const look = async () => {
    const { rows, upTo } = await listChanges(em, projectId, from);
    // Of the rows that may still be followed by lower numbers, those that were told are remembered.
    const recent = new Set(rows.filter((row) => row.xid >= upTo).map((row) => row.id));
    const toldRecent = [...recent].filter((id) => told.has(id));
    for (const { id, kind, objectId, status, at } of rows.filter((row) => !told.has(row.id))) {
      if (recent.has(id)) toldRecent.push(id);
      const place = placeAt(upTo, toldRecent);
      out.send({ id: place, event: kind, data: { id: objectId, status, at: at.toISOString() } });
      await out.drained();
    }
    told = recent;
    from = upTo;
    return false;
  };
  await follow(out.signal, (hear) => app.db.listen(`project ${projectId}`, hear), look);
}

/** With more than so many transactions under way at once, who comes back hears some changes twice. */
const rememberedEvents = 40;

function placeAt(transaction: number, told: number[]): string {
  const place = `${transaction}-${Math.floor(Date.now() / 1000)}`;
  return told.length === 0 || told.length > rememberedEvents ? place : `${place}-${told.join('.')}`;
}

/** From which transaction on to tell; a reset when what came in between is not kept any more. */
async function startOf(
  em: EntityManager,
  lastEventId: string | undefined,
): Promise<{ from: number; told: Set<number>; isReset: boolean }> {
  const [{ now, next }] = await em.query(
    `select pg_snapshot_xmin(pg_current_snapshot())::text::float8 as now,
       pg_snapshot_xmax(pg_current_snapshot())::text::float8 as next`,
  );
  if (lastEventId === undefined) return { from: now, told: new Set(), isReset: false };
  const [, transaction, second, ids = ''] = /^(\d{1,15})-(\d{1,12})(?:-([\d.]{1,1000}))?$/.exec(lastEventId) ?? [];
  const isKept = Number(second) * 1000 > Date.now() - keptMinutes * 60_000 && Number(transaction) <= next;
  const told = new Set(ids.split('.').map(Number));
  return isKept ? { from: Number(transaction), told, isReset: false } : { from: now, told: new Set(), isReset: true };
}

/** The changes of transactions from that number on, and the number before which none is still under way. */
async function listChanges(em: EntityManager, projectId: string, from: number) {
  const rows: (Told & { xid: number })[] = await em.query(
    `select id::float8 as id, kind, object_id as "objectId", status, at, xid::text::float8 as xid,
       pg_snapshot_xmin(pg_current_snapshot())::text::float8 as "upTo"
     from project_events where project_id = $1 and xid >= $2::text::xid8 order by id`,
    [projectId, String(from)],
  );
  const upTo = (rows[0] as { upTo?: number } | undefined)?.upTo ?? from;
  return { rows, upTo };
}

/** What is older than anybody may ask for. */
export async function forgetOldEvents(em: EntityManager): Promise<void> {
  await em.query('delete from project_events where at < now() - make_interval(mins => $1)', [2 * keptMinutes]);
}

export const projectEventRoutes: Route[] = [
  route({
    operationId: 'followProject',
    method: 'get',
    path: '/projects/:projectId/events',
    summary: 'Follow the changes of a project as they happen',
    tag: 'projects',
    access: inProject('member'),
    reply: [200, ProjectEvent],
    isStream: true,
    streams:
      'Events `task`, `run` and `sprint` with `{ id, status, at }`; `Last-Event-ID` reaches back an hour, else the first event is `reset`',
    stream: (app, { projectId }, out) => tellChanges(app, projectId, out),
    handle: async () => ({ id: '', status: '', at: '' }),
  }),
];

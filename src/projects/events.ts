import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { inProject } from '../http/access.ts';
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
/** Numbers are given when a change is made and seen when it commits, so lower ones may come a moment later. */
const lateNumbers = 500;

const ProjectEvent = z.object({ id: z.string(), status: z.string(), at: Timestamp }).meta({ id: 'ProjectEvent' });

/** Tells each change of the project's tasks, runs and sprints: what to look at again. */
async function tellChanges(app: App, projectId: string, out: EventStream): Promise<void> {
  const em = app.db.manager;
  const from = await startOf(em, out.lastEventId);
  if (from.isReset) out.send({ id: from.id, event: 'reset', data: {} });
  // Without a word: only so that whoever comes back can say from where.
  else out.send({ id: from.id });
  const sent = new Set<number>();
  let last = from.id;
  const look = async () => {
    const rows = await listChanges(em, projectId, Math.max(from.id, last - lateNumbers));
    for (const { id, kind, objectId, status, at } of rows.filter((row) => !sent.has(row.id))) {
      out.send({ id, event: kind, data: { id: objectId, status, at: at.toISOString() } });
      sent.add(id);
      last = Math.max(last, id);
    }
    for (const id of sent) if (id < last - lateNumbers) sent.delete(id);
    return false;
  };
  await follow(out.signal, (hear) => app.db.listen(`project ${projectId}`, hear), look);
}

/** After which event to begin; a reset when what came in between is not kept any more. */
async function startOf(em: EntityManager, lastEventId: string | undefined): Promise<{ id: number; isReset: boolean }> {
  const [{ oldest, newest }] = await em.query(
    `select (select min(id) from project_events where at > now() - make_interval(mins => $1))::float8 as oldest,
       (select coalesce(max(id), 0) from project_events)::float8 as newest`,
    [keptMinutes],
  );
  if (lastEventId === undefined) return { id: newest, isReset: false };
  const wanted = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : -1;
  const isKept = wanted <= newest && wanted >= (oldest ?? newest + 1) - 1;
  return isKept ? { id: wanted, isReset: false } : { id: newest, isReset: true };
}

async function listChanges(em: EntityManager, projectId: string, afterId: number): Promise<Told[]> {
  return em.query(
    `select id::float8 as id, kind, object_id as "objectId", status, at from project_events
     where project_id = $1 and id > $2 order by id`,
    [projectId, afterId],
  );
}

/** What is older than anybody may ask for. */
export async function forgetOldEvents(em: EntityManager): Promise<void> {
  await em.query('delete from project_events where at < now() - make_interval(mins => $1)', [2 * keptMinutes]);
}

export const projectEventRoutes: Route[] = [
  route({
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

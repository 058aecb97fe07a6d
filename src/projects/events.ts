import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { inProject } from '../http/access/access.ts';
import { type EventStream, follow } from '../http/events.ts';
import { type Route, route, Timestamp } from '../http/route.ts';

interface ProjectChange {
  id: number;
  /**
   * For `inbox`, the object is a task, and the status why it needs a person, or `done`. For `chat`, the object is a task
   * or a sprint, and the status says which. For `plan`, it is a planning session.
   */
  kind: 'task' | 'run' | 'sprint' | 'inbox' | 'chat' | 'plan';
  objectId: string;
  status: string;
  at: Date;
  /** The number of the transaction that made the change. */
  transaction: number;
}

/**
 * Returns the current transaction numbers. All transactions before `settled` have ended, and no transaction has the
 * number `next` or a higher one yet.
 */
async function transactionNumbers(em: EntityManager): Promise<{ settled: number; next: number }> {
  const [row]: [{ settled: number; next: number }] = await em.query(
    `select pg_snapshot_xmin(pg_current_snapshot())::text::float8 as settled,
       pg_snapshot_xmax(pg_current_snapshot())::text::float8 as next`,
  );
  return row;
}

/**
 * Returns the changes of a project by transactions from the number `from` on. All transactions before `settled` have
 * ended, so they can add no more changes.
 */
async function listChanges(
  em: EntityManager,
  projectId: string,
  from: number,
): Promise<{ rows: ProjectChange[]; settled: number }> {
  const rows: (ProjectChange & { settled: number })[] = await em.query(
    `select id::float8 as id, kind, object_id as "objectId", status, at, xid::text::float8 as transaction,
       pg_snapshot_xmin(pg_current_snapshot())::text::float8 as settled
     from project_events where project_id = $1 and xid >= $2::text::xid8 order by id`,
    [projectId, String(from)],
  );
  return { rows, settled: rows[0]?.settled ?? from };
}

/** How far back a client can resume with `Last-Event-ID`. */
const resumeMinutes = 60;

/** Deletes events that are too old for any client to request. */
export async function forgetOldEvents(em: EntityManager): Promise<void> {
  await em.query('delete from project_events where at < now() - make_interval(mins => $1)', [2 * resumeMinutes]);
}

const ProjectEvent = z.object({ id: z.string(), status: z.string(), at: Timestamp }).meta({ id: 'ProjectEvent' });

/**
 * Sends a hint for each change of the project's tasks, runs, sprints, plans and chats and of its members' inbox, so that
 * the client loads the changed object again.
 *
 * PostgreSQL assigns the ids of rows before their transactions commit, so a row with a lower id can become visible
 * after one with a higher id. The position in the stream is therefore a transaction number: all changes before it were
 * sent. The position also contains the ids of rows that were already sent from later transactions. So a change that
 * commits late is sent late, but is not lost.
 */
async function sendChanges(app: App, projectId: string, out: EventStream): Promise<void> {
  const em = app.db.manager;
  const { isReset, ...start } = await startOf(em, out.lastEventId);
  let { from, sent } = start;
  if (isReset) out.send({ id: positionAt(from, []), event: 'reset', data: {} });
  // A new stream starts with the next change, so the changes before it are marked as sent.
  if (out.lastEventId === undefined || isReset)
    sent = new Set((await listChanges(em, projectId, from)).rows.map((row) => row.id));
  out.begin();
  const look = async () => {
    const { rows, settled } = await listChanges(em, projectId, from);
    // Rows of unsettled transactions will be read again, so the stream remembers which of them it has sent.
    const unsettled = new Set(rows.filter((row) => row.transaction >= settled).map((row) => row.id));
    const sentUnsettled = [...unsettled].filter((id) => sent.has(id));
    for (const { id, kind, objectId, status, at } of rows.filter((row) => !sent.has(row.id))) {
      if (unsettled.has(id)) sentUnsettled.push(id);
      const position = positionAt(settled, sentUnsettled);
      out.send({ id: position, event: kind, data: { id: objectId, status, at: at.toISOString() } });
      await out.drained();
    }
    sent = unsettled;
    from = settled;
    return false;
  };
  await follow(out.signal, (hear) => app.db.listen(`project ${projectId}`, hear), look);
}

/** Maximum number of ids in a position. With more unsettled changes, a client that resumes gets some of them twice. */
const maxRemembered = 40;

/**
 * Formats a position as `<transaction>-<second>` or `<transaction>-<second>-<id>.<id>…`. The second is the time of the
 * position, which tells how old it is.
 */
function positionAt(transaction: number, sent: number[]): string {
  const position = `${transaction}-${Math.floor(Date.now() / 1000)}`;
  return sent.length === 0 || sent.length > maxRemembered ? position : `${position}-${sent.join('.')}`;
}

interface Start {
  /** The first transaction to read. */
  from: number;
  sent: Set<number>;
  /** Changes since `Last-Event-ID` may already be deleted, so the client has to load everything again. */
  isReset: boolean;
}

async function startOf(em: EntityManager, lastEventId: string | undefined): Promise<Start> {
  const { settled, next } = await transactionNumbers(em);
  if (lastEventId === undefined) return { from: settled, sent: new Set(), isReset: false };
  const [, transaction, second, ids = ''] = /^(\d{1,15})-(\d{1,12})(?:-([\d.]{1,1000}))?$/.exec(lastEventId) ?? [];
  const isKept = Number(second) * 1000 > Date.now() - resumeMinutes * 60_000 && Number(transaction) <= next;
  const sent = new Set(ids.split('.').map(Number));
  return isKept
    ? { from: Number(transaction), sent, isReset: false }
    : { from: settled, sent: new Set(), isReset: true };
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
      'Events `task`, `run`, `sprint`, `plan`, `inbox` and `chat` with `{ id, status, at }`. `inbox` has the id of a task, and as its status why the task needs a person, or `done`. `chat` has the id of the task or sprint whose chat has a new answer, and `task` or `sprint` as its status. A client can resume with `Last-Event-ID` within an hour; after that the first event is `reset`',
    stream: (app, { projectId }, out) => sendChanges(app, projectId, out),
    handle: async () => ({ id: '', status: '', at: '' }),
  }),
];

import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { inProject } from '../http/access/access.ts';
import { type EventStream, follow } from '../http/events.ts';
import { type Route, route, Timestamp, wholeNumber } from '../http/route.ts';
import { memberTopic } from './member-store.ts';

interface ProjectChange {
  id: number;
  /**
   * For `inbox`, the object is a task, and the status why it needs a person, or `done`. For `chat`, the object is a task
   * or a sprint, and the status says which. For `plan`, it is a planning session. For `automation`, the status is `enabled`,
   * `disabled`, `paused` or `deleted`.
   */
  kind: 'task' | 'run' | 'sprint' | 'inbox' | 'chat' | 'plan' | 'automation';
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

/** Changes read per query, so that a project's changes of hours do not wait in memory for a slow reader. */
const portion = 500;
/** A client that missed more changes than this loads everything again, which is less work than sending them. */
const maxMissed = 5000;

interface Portion {
  rows: ProjectChange[];
  /** All transactions before this one had ended before anything was read, so they can add no more changes. */
  settled: number;
  isEnd: boolean;
}

/** Returns the changes of a project by transactions from the number `from` on, in portions. */
async function* listChanges(em: EntityManager, projectId: string, from: number): AsyncGenerator<Portion> {
  let settled: number | undefined;
  for (let after = 0; ; ) {
    const rows: (ProjectChange & { settled: number })[] = await em.query(
      `select id::float8 as id, kind, object_id as "objectId", status, at, xid::text::float8 as transaction,
         pg_snapshot_xmin(pg_current_snapshot())::text::float8 as settled
       from project_events where project_id = $1 and xid >= $2::text::xid8 and id > $3 order by id limit $4`,
      [projectId, String(from), after, portion],
    );
    settled ??= rows[0]?.settled ?? from;
    const isEnd = rows.length < portion;
    yield { rows, settled, isEnd };
    if (isEnd) return;
    after = rows.at(-1)?.id ?? after;
  }
}

/** Returns the ids of the changes by transactions from the number `from` on. */
async function listIds(em: EntityManager, projectId: string, from: number): Promise<Set<number>> {
  const ids = new Set<number>();
  for await (const { rows } of listChanges(em, projectId, from)) for (const { id } of rows) ids.add(id);
  return ids;
}

async function hasMissedTooMuch(em: EntityManager, projectId: string, from: number): Promise<boolean> {
  const rows: unknown[] = await em.query(
    'select from project_events where project_id = $1 and xid >= $2::text::xid8 offset $3 limit 1',
    [projectId, String(from), maxMissed],
  );
  return rows.length > 0;
}

/** How far back a client can resume with `Last-Event-ID`. */
const resumeMinutes = 60;

/** Deletes events that are too old for any client to request. */
export async function forgetOldEvents(em: EntityManager): Promise<void> {
  await em.query('delete from project_events where at < now() - make_interval(mins => $1)', [2 * resumeMinutes]);
}

const EventsQuery = z.strictObject({
  heartbeat: wholeNumber(1, 60)
    .optional()
    .meta({ description: 'seconds between two events `heartbeat`, which a client needs to notice a dead connection' }),
});

const ProjectEvent = z.object({ id: z.string(), status: z.string(), at: Timestamp }).meta({ id: 'ProjectEvent' });

/**
 * Sends a hint for each change of the project's tasks, runs, sprints, plans, automations, chats and members and of its members'
 * inbox, so that the client loads the changed object again.
 *
 * PostgreSQL assigns the ids of rows before their transactions commit, so a row with a lower id can become visible
 * after one with a higher id. The position in the stream is therefore a transaction number: all changes before it were
 * sent. The position also contains the ids of rows that were already sent from later transactions. So a change that
 * commits late is sent late, but is not lost.
 */
async function sendChanges(
  app: App,
  projectId: string,
  { heartbeat }: z.output<typeof EventsQuery>,
  out: EventStream,
): Promise<void> {
  const em = app.db.manager;
  const { isReset, ...start } = await startOf(em, projectId, out.lastEventId);
  let { from, sent } = start;
  // A new stream starts with the next change, so the changes before it are marked as sent. A client loads everything when it
  // hears of a reset, so what changes after that is sent.
  if (out.lastEventId === undefined || isReset) sent = await listIds(em, projectId, from);
  if (isReset) out.send({ id: positionAt(from, new Set()), event: 'reset', data: {} });
  // These have no place in the stream: a client that resumes asks for its role anyway.
  const stopMembers = app.db.listen(memberTopic(projectId), (change) => {
    if (change !== undefined) out.send({ event: 'member', data: JSON.parse(change) });
  });
  out.begin();
  const beat = () => out.send({ event: 'heartbeat', data: {} });
  const heart = heartbeat === undefined ? undefined : setInterval(beat, heartbeat * 1000);
  const look = async () => {
    // Rows of unsettled transactions will be read again, so the stream remembers which of them it has sent.
    const unsettled = new Set<number>();
    let next = from;
    for await (const { rows, settled, isEnd } of listChanges(em, projectId, from)) {
      next = settled;
      for (const { id, transaction } of rows) if (transaction >= settled) unsettled.add(id);
      await sendUnsent(rows, { from, sent, end: isEnd ? positionAt(settled, unsettled) : undefined }, out);
      if (out.signal.aborted) return true;
    }
    sent = unsettled;
    from = next;
    return false;
  };
  try {
    await follow(out.signal, (hear) => app.db.listen(`project ${projectId}`, hear), look);
  } finally {
    clearInterval(heart);
    stopMembers();
  }
}

/**
 * Sends a portion of changes without those that were already sent. A client that resumes begins where the reading began,
 * unless it has everything: then it begins at `end`.
 */
async function sendUnsent(
  rows: ProjectChange[],
  { from, sent, end }: { from: number; sent: Set<number>; end: string | undefined },
  out: EventStream,
): Promise<void> {
  const left = rows.filter((row) => !sent.has(row.id));
  for (const { id, kind, objectId, status, at } of left) {
    sent.add(id);
    const position = (id === left.at(-1)?.id ? end : undefined) ?? positionAt(from, sent);
    out.send({ id: position, event: kind, data: { id: objectId, status, at: at.toISOString() } });
    await out.drained();
    if (out.signal.aborted) return;
  }
}

/** Maximum number of ids in a position. With more unsettled changes, a client that resumes gets some of them twice. */
const maxRemembered = 40;

/**
 * Formats a position as `<transaction>-<second>` or `<transaction>-<second>-<id>.<id>…`. The second is the time of the
 * position, which tells how old it is.
 */
function positionAt(transaction: number, sent: Set<number>): string {
  const position = `${transaction}-${Math.floor(Date.now() / 1000)}`;
  return sent.size === 0 || sent.size > maxRemembered ? position : `${position}-${[...sent].join('.')}`;
}

interface Start {
  /** The first transaction to read. */
  from: number;
  sent: Set<number>;
  /**
   * Changes since `Last-Event-ID` may already be deleted, or are too many, so the client has to load everything again.
   */
  isReset: boolean;
}

async function startOf(em: EntityManager, projectId: string, lastEventId: string | undefined): Promise<Start> {
  const { settled, next } = await transactionNumbers(em);
  if (lastEventId === undefined) return { from: settled, sent: new Set(), isReset: false };
  const [, transaction, second, ids = ''] = /^(\d{1,15})-(\d{1,12})(?:-([\d.]{1,1000}))?$/.exec(lastEventId) ?? [];
  const isKept = Number(second) * 1000 > Date.now() - resumeMinutes * 60_000 && Number(transaction) <= next;
  const sent = new Set(ids.split('.').map(Number));
  return isKept && !(await hasMissedTooMuch(em, projectId, Number(transaction)))
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
    access: inProject('viewer'),
    reply: [200, ProjectEvent],
    query: EventsQuery,
    isStream: true,
    streams:
      'Events `task`, `run`, `sprint`, `plan`, `automation`, `inbox`, `chat` and `member` with `{ id, status, at }`. The status of an `automation` is `enabled`, `disabled`, `paused` or `deleted`. `inbox` has the id of a task, and as its status why the task needs a person, or `done`. `chat` has the id of the task or sprint whose chat has a new answer, and `task` or `sprint` as its status. `member` has the id of a user, and as its status the new role, or `removed`; it is not sent again to a client that resumes, and not when GitHub gives or takes a role. A client can resume with `Last-Event-ID` within an hour; after that, or after 5,000 changes, the first event is `reset`. `heartbeat` is sent with `{}` if asked for',
    stream: (app, { projectId, query }, out) => sendChanges(app, projectId, query, out),
    handle: async () => ({ id: '', status: '', at: '' }),
  }),
];

import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { inProject } from '../http/access/access.ts';
import { type EventStream, follow } from '../http/events.ts';
import { type Route, route } from '../http/route.ts';
import { Timestamp } from '../http/shapes.ts';
import { listChanges, resumeMinutes, transactionNumbers } from './event-store.ts';

const ProjectEvent = z.object({ id: z.string(), status: z.string(), at: Timestamp }).meta({ id: 'ProjectEvent' });

/**
 * Sends each change of the project's tasks, runs and sprints as a hint to look at it again.
 *
 * Numbers of rows are taken before their transactions commit, so a row with a lower number can appear after one with a
 * higher number. The position in the stream is therefore a transaction number: everything before it was sent. With it go
 * the ids of the rows already sent from later transactions. A change that commits late is sent late and not lost.
 */
async function sendChanges(app: App, projectId: string, out: EventStream): Promise<void> {
  const em = app.db.manager;
  const { isReset, ...start } = await startOf(em, out.lastEventId);
  let { from, sent } = start;
  if (isReset) out.send({ id: positionAt(from, []), event: 'reset', data: {} });
  // A new stream begins with the next change; the changes before it count as sent.
  if (out.lastEventId === undefined || isReset)
    sent = new Set((await listChanges(em, projectId, from)).rows.map((row) => row.id));
  const look = async () => {
    const { rows, settled } = await listChanges(em, projectId, from);
    // Rows of transactions that are not settled will be read again, so the stream remembers which of them it sent.
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

/** How many ids a position holds. With more unsettled changes than this, a client that resumes gets some of them twice. */
const maxRemembered = 40;

/** `<transaction>-<second>` or `<transaction>-<second>-<id>.<id>…`; the second tells how old the position is. */
function positionAt(transaction: number, sent: number[]): string {
  const position = `${transaction}-${Math.floor(Date.now() / 1000)}`;
  return sent.length === 0 || sent.length > maxRemembered ? position : `${position}-${sent.join('.')}`;
}

interface Start {
  /** The first transaction to read. */
  from: number;
  sent: Set<number>;
  /** Changes since `Last-Event-ID` may be deleted already, so the client has to load everything again. */
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
      'Events `task`, `run` and `sprint` with `{ id, status, at }`; a client can resume with `Last-Event-ID` within an hour; after that the first event is `reset`',
    stream: (app, { projectId }, out) => sendChanges(app, projectId, out),
    handle: async () => ({ id: '', status: '', at: '' }),
  }),
];

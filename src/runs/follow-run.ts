import type { App } from '../app.ts';
import { type EventStream, follow } from '../http/events.ts';
import { listEvents } from './lease/journal-store.ts';
import { findRun } from './store.ts';

/** Events read at once: a log of thousands must not wait in memory for a slow reader. */
const pageSize = 50;

/** Tells the log of a run from its beginning, or from behind `Last-Event-ID`, until the run has ended. */
export async function followRun(app: App, runId: string, out: EventStream): Promise<void> {
  const em = app.db.manager;
  let last = /^\d{1,15}$/.test(out.lastEventId ?? '') ? String(out.lastEventId) : '0';
  const look = async () => {
    // Asked first: what it wrote before it ended is then seen below.
    const run = await findRun(em, runId);
    for (;;) {
      const events = await listEvents(em, runId, { afterId: last, limit: pageSize });
      for (const event of events) out.send({ id: event.id, event: event.type, data: event });
      last = events.at(-1)?.id ?? last;
      if (events.length < pageSize || out.signal.aborted) break;
      await out.drained();
    }
    if (out.signal.aborted) return true;
    const isOver = run === null || !['queued', 'running'].includes(run.status);
    if (isOver) out.send({ event: 'end', data: { status: run?.status ?? 'deleted' } });
    return isOver;
  };
  await follow(out.signal, (hear) => app.db.listen(`run ${runId}`, hear), look);
}

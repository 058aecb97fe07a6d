import type { App } from '../app.ts';
import { liveStatuses } from '../domain/run.ts';
import { type EventStream, follow } from '../http/events.ts';
import { textTopic } from './agent/live-text.ts';
import { listEvents } from './lease/journal-store.ts';
import { findRun } from './store.ts';

/** Events read per query, so that a log of thousands of events does not wait in memory for a slow reader. */
const pageSize = 50;

/**
 * Streams the log of a run from its beginning, or from after `Last-Event-ID`, until the run has ended. The text that the
 * model is writing is sent as `delta`; it is stored nowhere, so its events have no id.
 */
export async function followRun(app: App, runId: string, out: EventStream): Promise<void> {
  let last = /^\d{1,15}$/.test(out.lastEventId ?? '') ? String(out.lastEventId) : '0';
  const look = async () => {
    // The run is read before the events. If it has ended, all of its events are stored and will be sent.
    const run = await findRun(app.db.manager, runId);
    last = await sendEvents(app, runId, last, out);
    if (out.signal.aborted) return true;
    const isOver = run === null || !liveStatuses.includes(run.status);
    if (isOver) out.send({ event: 'end', data: { status: run?.status ?? 'deleted' } });
    return isOver;
  };
  const stopText = app.db.listen(textTopic(runId), (delta) => {
    if (delta !== undefined) out.send({ event: 'delta', data: JSON.parse(delta) });
  });
  out.begin();
  try {
    await follow(out.signal, (hear) => app.db.listen(`run ${runId}`, hear), look);
  } finally {
    stopText();
  }
}

/** Sends the events after `last` and returns the id of the last one sent. */
async function sendEvents(app: App, runId: string, last: string, out: EventStream): Promise<string> {
  for (let afterId = last; ; ) {
    const events = await listEvents(app.db.manager, runId, { afterId, limit: pageSize });
    for (const event of events) out.send({ id: event.id, event: event.type, data: event });
    afterId = events.at(-1)?.id ?? afterId;
    if (events.length < pageSize || out.signal.aborted) return afterId;
    await out.drained();
  }
}

import type { App } from '../app.ts';
import type { Database } from '../db/database.ts';
import { liveStatuses } from '../domain/run.ts';
import { safeLength, withoutSecrets } from '../domain/secrets.ts';
import { type EventStream, follow } from '../http/events.ts';
import type { ReplyOptions } from '../llm/model.ts';
import { listEvents } from './journal.ts';
import { findRun } from './store.ts';

/** How long text is collected before it is sent. */
const flushMs = 250;
/** Characters of one message. Each needs at most six bytes as JSON, and PostgreSQL allows 8000 bytes. */
const maxPiece = 1200;
/** Characters shown of one turn. Beyond that nothing more of it is shown; the conversation has the whole text. */
const maxTurn = 100_000;

/** The topic under which the text of a run is sent to those who follow it. */
function textTopic(runId: string): string {
  return `text ${runId}`;
}

/** Shows people what a model writes while it writes. The text is sent to all processes, and stored nowhere. */
export interface LiveText {
  /** Returns the callbacks for a request. `turn` returns the number of its turn. */
  ofTurn(turn: () => number): Required<Pick<ReplyOptions, 'onText' | 'onRestart'>>;
  /** Sends the rest of the text. Call it when the turn is complete. */
  end(): Promise<void>;
}

/**
 * `secrets` returns the credentials to remove. Text that may be the beginning of one is held back until it is complete.
 */
export function openLiveText(db: Pick<Database, 'tell'>, runId: string, secrets: () => string[]): LiveText {
  let turn = 0;
  let held = '';
  let shown = 0;
  let restarts = false;
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();
  const send = (text: string) => {
    for (let at = 0; at < text.length; at += maxPiece) {
      const delta = { turn, text: text.slice(at, at + maxPiece), ...(restarts ? { restarts } : {}) };
      restarts = false;
      // Losing a piece while the database is unavailable does little harm: the whole turn is stored later.
      sending = sending.then(() => db.tell(textTopic(runId), JSON.stringify(delta))).catch(() => {});
    }
  };
  const flush = (length: number) => {
    clearTimeout(timer);
    timer = undefined;
    const text = withoutSecrets(held.slice(0, length), secrets());
    held = held.slice(length);
    send(text);
  };
  const begin = () => {
    held = '';
    shown = 0;
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    ofTurn: (number) => ({
      onText: (piece) => {
        turn = number();
        held += piece.slice(0, maxTurn - shown);
        shown = Math.min(shown + piece.length, maxTurn);
        timer ??= setTimeout(() => flush(safeLength(held, secrets())), flushMs).unref();
      },
      onRestart: () => {
        begin();
        restarts = true;
      },
    }),
    end: async () => {
      flush(held.length);
      begin();
      restarts = false;
      await sending;
    },
  };
}

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

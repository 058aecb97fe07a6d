import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { lostRace } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { knownError } from './error-reply.ts';
import { countStream, countUnsent } from './limits/replies.ts';

/** A stream of server-sent events to one caller (html.spec.whatwg.org, "Server-sent events"). */
export interface EventStream {
  /** The id of the last event that the caller received on an earlier connection. */
  lastEventId: string | undefined;
  /** Aborted when the caller has disconnected or has lost access. */
  signal: AbortSignal;
  /**
   * Sends the status. From then on the caller relies on the stream, so call it when no later change can be missed. The
   * first event sends the status too.
   */
  begin(): void;
  /** Sends an event once the caller's access has been checked again, after all events before it. */
  send(event: { id?: string | number; event?: string; data?: unknown }): void;
  /**
   * Resolves once the caller has read enough for more to be sent, or has disconnected. Await it when sending many
   * events.
   */
  drained(): Promise<void>;
}

/** Interval between two checks of the caller's access without events. It ends the stream of a revoked token within a second. */
const recheckMs = 800;
/** Events that follow a check sooner wait and share the next one: a check is some statements. */
const betweenChecksMs = 50;
/** While more characters than this wait for a check of rights, the sender of further events waits as well. */
const maxWaiting = 64 * 1024;
/** Interval between two comments, which keep proxies from closing an idle connection. */
const pingMs = 15_000;
/** A caller that has more than this many unread bytes is disconnected. It can resume with `Last-Event-ID`. */
const maxUnread = 1024 * 1024;

/**
 * When the process stops, each client is told to reconnect after a random time in this range, so that they do not all reach the next
 * process at the same moment. A browser tries again at that interval until the next process answers.
 */
const [minRetryMs, maxRetryMs] = [500, 2000];

export function wantsEvents(req: Request): boolean {
  return /\btext\/event-stream\b/i.test(req.headers.accept ?? '');
}

/**
 * Sends an event stream until `tell` is done, the caller disconnects, the process stops, or `recheck` throws. The
 * stream counts against the limits until `tell` has returned, even if it has ended before.
 * @throws AppError 429 over the limit of a user, 503 over that of the process; both before anything is sent
 */
export async function answerEvents(
  req: Request,
  res: Response,
  about: { userId: string; stopping: AbortSignal; recheck: () => Promise<unknown> },
  tell: (stream: EventStream) => Promise<void>,
): Promise<void> {
  // The statements of a check count for the caller, whatever caused it: see `FairPool`.
  const recheck = AsyncResource.bind(about.recheck);
  const uncount = countStream(about.userId);
  const setUnsent = countUnsent(res, about.userId);
  res.on('drain', () => setUnsent(res.writableLength));
  const ending = new AbortController();
  const { signal } = ending;
  const end = () => {
    ending.abort(new Error('the event stream has ended'));
    res.end();
  };
  // A caller that disconnected while its access was checked has closed already. Without this, its stream would never end.
  if (res.closed) end();
  else res.once('close', end);
  const leave = () => {
    const retryMs = Math.ceil(minRetryMs + Math.random() * (maxRetryMs - minRetryMs));
    write(`retry: ${retryMs}\n\n`);
    end();
  };
  about.stopping.addEventListener('abort', leave, { once: true });
  if (about.stopping.aborted) leave();
  const begin = () => {
    if (!signal.aborted && !res.headersSent) sendHead(res);
  };
  const write = (text: string) => {
    begin();
    if (!signal.aborted) res.write(text);
    noteUnsent();
  };
  const waiting = checkedWrites(recheck, { signal, write, end });
  const noteUnsent = () => {
    const unsent = res.writableLength + waiting.chars();
    if (unsent > maxUnread) end();
    setUnsent(unsent);
  };
  const send: EventStream['send'] = (event) => {
    begin();
    waiting.add(eventText(event));
    noteUnsent();
  };
  const stopPings = pingEvery(pingMs, res, write, end);
  const stopChecks = recheckEvery(recheckMs, recheck, end);
  const lastEventId = req.headers['last-event-id'];
  try {
    await tell({
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      signal,
      begin,
      send,
      drained: async () => {
        if (waiting.chars() > maxWaiting) await waiting.written();
        await drained(res, signal);
      },
    });
    await waiting.written();
  } catch (error) {
    const { status, message } = knownError(await causeOf(error, about.recheck));
    await waiting.written();
    // Says what happened to the caller's own request, also while nobody's access can be checked.
    write(eventText({ event: 'error', data: { statusCode: status, message } }));
  } finally {
    stopPings();
    stopChecks();
    about.stopping.removeEventListener('abort', leave);
    res.removeListener('close', end);
    uncount();
    res.end();
  }
}

function sendHead(res: Response): void {
  res.status(200).setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // Without it nginx would buffer the events.
  res.setHeader('X-Accel-Buffering', 'no');
  res.flushHeaders();
}

function eventText({ id, event, data }: Parameters<EventStream['send']>[0]): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ];
  return `${lines.join('\n')}\n\n`;
}

async function drained(res: Response, signal: AbortSignal): Promise<void> {
  if (res.writableNeedDrain && !signal.aborted) await once(res, 'drain', { signal }).catch(() => undefined);
}

/** Sends a comment at each interval. Disconnects a caller that has read nothing between two comments. */
function pingEvery(ms: number, res: Response, write: (text: string) => void, end: () => void): () => void {
  let wasBlocked = false;
  const timer = setInterval(() => {
    if (wasBlocked && res.writableNeedDrain) end();
    wasBlocked = res.writableNeedDrain;
    write(': still here\n\n');
  }, ms);
  return () => clearInterval(timer);
}

/** Whether a check of access says that the caller has none. If the database cannot be reached, the caller may still have it. */
const isRefusal = (error: unknown) => error instanceof AppError && error.status < 500;

function recheckEvery(ms: number, recheck: () => Promise<unknown>, end: () => void): () => void {
  const timer = setInterval(() => {
    recheck().catch((error) => {
      if (isRefusal(error)) end();
    });
  }, ms);
  return () => clearInterval(timer);
}

/**
 * Writes texts, each only after a check of access that began when the text was there: somebody who was removed from a project
 * before something happened there does not hear of it. While a check fails for another reason, the texts wait.
 */
function checkedWrites(
  recheck: () => Promise<unknown>,
  { signal, write, end }: { signal: AbortSignal; write: (text: string) => void; end: () => void },
) {
  const texts: string[] = [];
  let chars = 0;
  let lastCheck = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | undefined;
  const writeAll = async () => {
    while (texts.length > 0 && !signal.aborted) {
      const wait = lastCheck + betweenChecksMs - performance.now();
      if (wait > 0) await setTimeout(wait);
      const checked = texts.length;
      lastCheck = performance.now();
      const error = await recheck().then(
        () => undefined,
        (reason: unknown) => reason ?? new Error('no access'),
      );
      if (isRefusal(error)) return end();
      if (error !== undefined) continue;
      for (const text of texts.splice(0, checked)) {
        chars -= text.length;
        write(text);
      }
    }
  };
  return {
    chars: () => chars,
    add: (text: string) => {
      texts.push(text);
      chars += text.length;
      writing ??= writeAll().finally(() => {
        writing = undefined;
      });
    },
    /** Resolves once nothing waits, or the stream has ended. */
    written: async () => {
      while (writing !== undefined && !signal.aborted) await writing;
    },
  };
}

/**
 * Returns the error to report. After a lost race the object may have been deleted; checking access again then throws
 * the error that says so.
 */
async function causeOf(error: unknown, recheck: () => Promise<unknown>): Promise<unknown> {
  if (!lostRace(error)) return error;
  return recheck().then(
    () => error,
    (found: unknown) => found,
  );
}

/**
 * Calls `look` immediately and after each notification, one call at a time, until it returns true or `signal` aborts.
 */
export async function follow(
  signal: AbortSignal,
  listen: (hear: () => void) => () => void,
  look: () => Promise<boolean>,
): Promise<void> {
  let isNew = true;
  let wake = () => {};
  const hear = () => {
    isNew = true;
    wake();
  };
  const stop = listen(hear);
  signal.addEventListener('abort', hear, { once: true });
  try {
    while (!signal.aborted) {
      if (!isNew)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isNew = false;
      if (signal.aborted || (await look())) return;
    }
  } finally {
    stop();
    signal.removeEventListener('abort', hear);
  }
}

import { once } from 'node:events';
import type { Request, Response } from 'express';
import { lostRace } from '../db/database.ts';
import { AppError } from '../errors.ts';
import { knownError } from './error-reply.ts';

/** Server-sent events to one caller (html.spec.whatwg.org, "Server-sent events"). */
export interface EventStream {
  /** What the caller had last, when it comes back. */
  lastEventId: string | undefined;
  /** Aborted when the caller is gone or may not see it any more. */
  signal: AbortSignal;
  send(event: { id?: string | number; event?: string; data?: unknown }): void;
  /** Resolves when the caller has read enough for more to be sent, or is gone. To be awaited between many events. */
  drained(): Promise<void>;
}

/** Open at once for one user in one process (decisions, section 4). */
const maxStreams = 10;
/** For all users of this process: each stream looks at its access every 800 ms. */
const maxStreamsOfAll = 1000;
/** How often access is checked again: a token that is revoked is dead within a second. */
const recheckMs = 800;
/** How often a comment is sent, so that proxies keep the connection. */
const pingMs = 15_000;
/** A caller who leaves more than this unread is let go; it can come back with `Last-Event-ID`. */
const maxUnread = 1024 * 1024;

const open = new Map<string, number>();
let openOfAll = 0;

export function wantsEvents(req: Request): boolean {
  return /\btext\/event-stream\b/i.test(req.headers.accept ?? '');
}

/**
 * Answers with a stream until `tell` is done, the caller is gone, or `recheck` throws.
 * @throws AppError 429 over the limit of a user, 503 over that of the process, before anything is sent
 */
export async function answerEvents(
  req: Request,
  res: Response,
  about: { userId: string; stopping: AbortSignal; recheck: () => Promise<unknown> },
  tell: (stream: EventStream) => Promise<void>,
): Promise<void> {
  const count = open.get(about.userId) ?? 0;
  if (count >= maxStreams)
    throw new AppError(429, `At most ${maxStreams} open streams for a user; close one first`, {
      headers: { 'Retry-After': '5' },
    });
  if (openOfAll >= maxStreamsOfAll)
    throw new AppError(503, 'Too many streams are open; try again later', { headers: { 'Retry-After': '5' } });
  open.set(about.userId, count + 1);
  openOfAll += 1;
  const gone = new AbortController();
  const leave = () => gone.abort(new Error('the caller is gone'));
  res.once('close', leave);
  about.stopping.addEventListener('abort', leave, { once: true });
  res.status(200).setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // nginx would hold the events back.
  res.setHeader('X-Accel-Buffering', 'no');
  res.flushHeaders();
  const write = (text: string) => {
    if (res.writableLength > maxUnread) leave();
    if (!gone.signal.aborted) res.write(text);
  };
  let wasBlocked = false;
  const ping = setInterval(() => {
    // Nothing was read between two pings.
    if (wasBlocked && res.writableNeedDrain) leave();
    wasBlocked = res.writableNeedDrain;
    write(': still here\n\n');
  }, pingMs);
  const check = setInterval(() => {
    // The database being away is no reason to send anybody off.
    about.recheck().catch((error) => {
      if (error instanceof AppError && error.status < 500) leave();
    });
  }, recheckMs);
  const send: EventStream['send'] = ({ id, event, data }) => {
    const lines = [
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(event === undefined ? [] : [`event: ${event}`]),
      ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
    ];
    write(`${lines.join('\n')}\n\n`);
  };
  const drained = async () => {
    if (res.writableNeedDrain && !gone.signal.aborted)
      await once(res, 'drain', { signal: gone.signal }).catch(() => undefined);
  };
  const lastEventId = req.headers['last-event-id'];
  try {
    await tell({
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      signal: gone.signal,
      send,
      drained,
    });
  } catch (error) {
    // Something was deleted meanwhile: looked at again, it says what.
    const said = lostRace(error)
      ? await about.recheck().then(
          () => error,
          (found: unknown) => found,
        )
      : error;
    const { status, message } = knownError(said);
    if (!gone.signal.aborted) send({ event: 'error', data: { statusCode: status, message } });
  } finally {
    clearInterval(ping);
    clearInterval(check);
    about.stopping.removeEventListener('abort', leave);
    res.removeListener('close', leave);
    const left = (open.get(about.userId) ?? 1) - 1;
    openOfAll -= 1;
    if (left > 0) open.set(about.userId, left);
    else open.delete(about.userId);
    res.end();
  }
}

/** Calls `look` at once and whenever there may be something new, one call at a time, until it answers true or all is over. */
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

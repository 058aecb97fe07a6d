import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { Service } from './connection.ts';
import { DeckhandError, unreachable } from './errors.ts';

export interface StreamEvent {
  id: string | undefined;
  event: string;
  /** The data of the event, from JSON. */
  data: unknown;
}

export interface StreamOptions {
  signal?: AbortSignal;
  /** Called when the stream is open, the first time and after each reconnection. */
  onOpen?(): void;
  /** Called when the connection broke, before it is opened again. */
  onLost?(): void;
}

/** The service sends something every 15 s. After this time without anything, the connection is broken. */
const silenceMs = 45_000;
/** After this time without a connection, the stream is given up. */
const maxAwayMs = 300_000;
const [firstPauseMs, longestPauseMs] = [500, 10_000];

/**
 * Follows an event stream, such as `/runs/:runId/events`, until the caller stops. A stream that breaks is opened again
 * with `Last-Event-ID`, so no event is missed and none comes twice.
 * @throws DeckhandError when the service refuses the stream, or is away for five minutes
 */
export async function* follow(at: Service, path: string, options: StreamOptions = {}): AsyncGenerator<StreamEvent> {
  const { signal, onLost } = options;
  const place: Place = { lastEventId: undefined, lost: undefined };
  for (;;) {
    const error = yield* followOnce(at, path, options, place);
    if (signal?.aborted) return;
    const { lost } = place;
    if (!mayComeBack(error) || (lost !== undefined && Date.now() - lost.since > maxAwayMs)) throw error;
    if (lost === undefined) onLost?.();
    const pause = Math.min((lost?.pause ?? firstPauseMs / 2) * 2, longestPauseMs);
    place.lost = { since: lost?.since ?? Date.now(), pause };
    await sleep(pause, undefined, { signal }).catch(() => {});
    if (signal?.aborted) return;
  }
}

/** How far a stream was read, and since when it has no connection. */
interface Place {
  lastEventId: string | undefined;
  lost: { since: number; pause: number } | undefined;
}

/** Yields the events of one connection, and returns why it ended. */
async function* followOnce(
  at: Service,
  path: string,
  options: StreamOptions,
  place: Place,
): AsyncGenerator<StreamEvent, unknown> {
  try {
    for await (const found of connect(at, path, place.lastEventId, options)) {
      place.lost = undefined;
      if (found === undefined) continue;
      const failed = failureIn(found);
      if (failed !== undefined) return failed;
      place.lastEventId = found.id ?? place.lastEventId;
      yield found;
    }
    return new DeckhandError(0, 'The service closed the stream.');
  } catch (error) {
    return error;
  }
}

const mayComeBack = (error: unknown): boolean =>
  error instanceof DeckhandError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** Returns the error that the service sent within the stream. */
function failureIn({ event, data }: StreamEvent): DeckhandError | undefined {
  const { statusCode, message } = (data ?? {}) as { statusCode?: unknown; message?: unknown };
  return event === 'error' && typeof statusCode === 'number'
    ? new DeckhandError(statusCode, String(message))
    : undefined;
}

/** Yields the events of one connection, and undefined when it is open. */
async function* connect(
  at: Service,
  path: string,
  lastEventId: string | undefined,
  { signal, onOpen }: StreamOptions,
): AsyncGenerator<StreamEvent | undefined> {
  const ending = new AbortController();
  const stop = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  const silence = setTimeout(() => ending.abort(new Error('nothing arrived')), silenceMs).unref();
  try {
    const response = await at.fetch(`${at.baseUrl}${path}`, {
      signal: stop,
      headers: {
        ...at.headers,
        Accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
      },
    });
    yield undefined;
    onOpen?.();
    const heard: StreamEvent[] = [];
    const parser = createParser({
      onEvent: ({ id, event = 'message', data }) => heard.push({ id, event, data: JSON.parse(data) }),
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      silence.refresh();
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* heard.splice(0);
    }
  } catch (error) {
    throw error instanceof DeckhandError ? error : unreachable(new URL(at.baseUrl).origin, error);
  } finally {
    clearTimeout(silence);
    ending.abort();
  }
}

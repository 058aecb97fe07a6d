import type { UnderlyingSource } from 'node:stream/web';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonCost } from '../domain/json/json-cost.ts';
import { AnswerRefused, AnswerStalled } from '../errors.ts';

interface Limits {
  maxBytes: number;
  /** Truncates a response that is too large instead of rejecting it. */
  cuts?: boolean;
  /** Keeps only this many bytes from the end. */
  keepsEnd?: number;
  maxValues?: number | undefined;
  /** Throws when the time is up. */
  check: () => void;
}

/**
 * Reads a body into one buffer, whatever the size of its chunks.
 * @throws AnswerRefused when a limit is exceeded
 */
async function readWhole(body: ReadableStream<Uint8Array>, limits: Limits): Promise<Uint8Array<ArrayBuffer>> {
  const { maxBytes, cuts = false, keepsEnd = maxBytes, maxValues, check } = limits;
  const whole = growingBytes();
  let dropped = 0;
  const cost = maxValues === undefined ? undefined : new JsonCost(maxValues);
  const turn = takeTurns();
  for await (const piece of body) {
    check();
    const free = maxBytes - dropped - whole.length;
    if (piece.length > free) {
      if (!cuts) throw new AnswerRefused(`is larger than ${maxBytes / 1_000_000} MB`);
      whole.add(piece.subarray(0, free));
      break;
    }
    const problem = cost?.add(piece);
    if (problem !== undefined) throw new AnswerRefused(problem);
    whole.add(piece);
    // Rarely, because it copies what is kept.
    if (whole.length > 2 * keepsEnd) dropped += whole.keepEnd(keepsEnd);
    await turn();
  }
  whole.keepEnd(keepsEnd);
  return whole.take();
}

/** Limits on a response of another server. */
export interface AnswerLimits {
  /** Maximum size of a response that is read as a whole, counted after decompression. */
  maxBytes: number;
  /** Keeps only this many bytes from the end of a successful response. */
  keepsEnd?: number;
  /** Milliseconds from the call to the last byte. */
  maxMs: number;
  /** Maximum number of values in a JSON response (see `JsonCost`); unlimited when undefined. */
  maxValues?: number;
  /** Limits for event streams. Without them, an event stream is read as a whole like any other response. */
  events?: EventLimits;
}

/** Bodies of error responses are cut to this size. */
const maxErrorBytes = 65_536;
const maxRedirects = 3;

/**
 * Returns a `fetch` for servers that may be broken or hostile. It rejects responses that grow too large or take too
 * long. Unless `send` does otherwise, it follows redirects only within the same origin, because the request may carry a
 * key. When it returns, the response has been received completely, unless it is an event stream.
 * @throws AnswerRefused when a limit is exceeded
 */
export function boundedFetch(limits: AnswerLimits, send: typeof fetch = fetchWithinOrigin): typeof fetch {
  return async (input, init = {}) => {
    const clock = startClock(limits.maxMs);
    const signal = init.signal ? AbortSignal.any([init.signal, clock.signal]) : clock.signal;
    let isStream = false;
    try {
      const answer = await send(input, { ...init, signal });
      const isOfEvents = answer.headers.get('content-type')?.includes('text/event-stream') ?? false;
      if (answer.body !== null && answer.ok && isOfEvents && limits.events !== undefined) {
        isStream = true;
        return copyOf(answer, boundedEvents(answer.body, limits.events, clock));
      }
      const body = answer.body === null ? null : await readAnswer(answer, answer.body, limits, clock.check);
      return copyOf(answer, body);
    } finally {
      if (!isStream) clock.stop();
    }
  };
}

function readAnswer(answer: Response, body: ReadableStream<Uint8Array>, limits: AnswerLimits, check: () => void) {
  if (!answer.ok) return readWhole(body, { maxBytes: maxErrorBytes, cuts: true, check });
  return readWhole(body, { ...limits, check });
}

/**
 * Returns a `fetch` that follows redirects within the origin only, or none if the request says `redirect: 'manual'`.
 * @throws AnswerRefused for any other redirect
 */
export function withinOrigin(send: typeof fetch): typeof fetch {
  return async (input, init = {}) => {
    let url = new URL(input instanceof Request ? input.url : input);
    for (let redirects = 0; ; redirects++) {
      const answer = await send(input instanceof Request ? input : url.href, { ...init, redirect: 'manual' });
      const location = answer.headers.get('location');
      if (init.redirect === 'manual' || !redirectStatuses.includes(answer.status) || location === null) return answer;
      await answer.body?.cancel();
      url = locationWithin(url, location);
      if (redirects === maxRedirects || !canRepeat(input, init, answer.status))
        throw new AnswerRefused('redirects too often or in an unsupported way');
    }
  };
}

const fetchWithinOrigin = withinOrigin((input, init) => fetch(input, init));

const redirectStatuses = [301, 302, 303, 307, 308];

/**
 * Returns whether the request can be sent again unchanged: 301 to 303 turn a POST into a GET, and a stream can be read
 * only once.
 */
function canRepeat(input: string | URL | Request, init: RequestInit, status: number): boolean {
  if (input instanceof Request) return false;
  const method = (init.method ?? 'GET').toUpperCase();
  const keepsMethod = method === 'GET' || method === 'HEAD' || status >= 307;
  return keepsMethod && (init.body == null || typeof init.body === 'string');
}

/** Returns the target of a redirect. @throws AnswerRefused when the redirect leaves the origin */
function locationWithin(url: URL, location: string): URL {
  const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
  if (next?.origin !== url.origin) throw new AnswerRefused('redirects to another host');
  return next;
}

function copyOf(answer: Response, body: Uint8Array<ArrayBuffer> | ReadableStream | null): Response {
  const { status, statusText, headers, url } = answer;
  const copy = new Response(body, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}

/** Collects chunks in one growing buffer. A million separate chunks of one byte would take 100 MB. */
function growingBytes() {
  let bytes = new Uint8Array(8192);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add: (piece: Uint8Array): void => {
      if (length + piece.length > bytes.length) {
        const larger = new Uint8Array(Math.max(2 * bytes.length, length + piece.length));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(piece, length);
      length += piece.length;
    },
    /** Removes all but the last `most` bytes. Returns how many it removed. */
    keepEnd: (most: number): number => {
      const removed = Math.max(0, length - most);
      bytes.copyWithin(0, removed, length);
      length -= removed;
      return removed;
    },
    /** Returns a copy of the contents and empties the buffer. */
    take: (): Uint8Array<ArrayBuffer> => {
      const taken = bytes.slice(0, length);
      length = 0;
      return taken;
    },
  };
}

/**
 * Limits on a stream of server-sent events. The values of an event's JSON are counted by the code that parses it, because only
 * that code knows which bytes belong to one event.
 */
export interface EventLimits {
  maxBytes: number;
  maxEvents: number;
  /**
   * Maximum size of one event. The client library buffers an event until it is complete and searches the whole buffer
   * after each chunk.
   */
  maxEventBytes: number;
  /** Milliseconds without a byte after which the stream has broken; unlimited when undefined. */
  maxSilenceMs?: number;
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Passes on complete events only, until the stream ends or exceeds a limit. Lines must end with a line feed. The
 * standard also allows a lone carriage return, which no known server uses and which is refused.
 */
function boundedEvents(
  body: ReadableStream<Uint8Array>,
  limits: EventLimits,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const events = wholeEvents(body, limits, clock);
  const source: UnderlyingSource<Uint8Array> = {
    pull: async (controller) => {
      try {
        const { value, done } = await events.next();
        if (!done) return controller.enqueue(value);
        clock.stop();
        controller.close();
      } catch (error) {
        clock.stop();
        controller.error(error);
      }
    },
    cancel: () => clock.end(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Yields complete events, and at the end whatever follows the last one. @throws AnswerRefused, AnswerStalled */
async function* wholeEvents(body: ReadableStream<Uint8Array>, limits: EventLimits, clock: Clock) {
  const { maxBytes, maxSilenceMs } = limits;
  const splitter = new EventSplitter(limits);
  const turn = takeTurns();
  const heard = () => maxSilenceMs !== undefined && clock.heard(maxSilenceMs);
  let bytes = 0;
  heard();
  for await (const piece of body) {
    clock.check();
    heard();
    bytes += piece.length;
    if (bytes > maxBytes) throw new AnswerRefused(`is larger than ${maxBytes / 1_000_000} MB`);
    // Emits one event per chunk: when a chunk has several events, the client library copies the rest of the chunk for
    // each of them.
    for (const event of splitter.eventsIn(piece)) {
      yield event;
      await turn();
    }
    await turn();
  }
  const rest = splitter.rest();
  if (rest.length > 0) yield rest;
}

/** Splits a stream at the empty lines that end its events. */
class EventSplitter {
  readonly #limits: EventLimits;
  readonly #held = growingBytes();
  #events = 0;
  /** Bytes of the current line so far, without its line ending. */
  #lineBytes = 0;
  /** The last byte was a carriage return. */
  #isAfterReturn = false;

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  /** Yields the events that this piece completes. @throws AnswerRefused */
  *eventsIn(piece: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
    let begin = 0;
    for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, begin)) {
      this.#hold(piece.subarray(begin, at + 1));
      begin = at + 1;
      this.#lineBytes -= piece[at - 1] === carriageReturn ? 2 : 1;
      if (this.#lineBytes === 0) yield this.#endEvent();
      this.#lineBytes = 0;
    }
    this.#hold(piece.subarray(begin));
    const { maxEventBytes } = this.#limits;
    if (this.#held.length > maxEventBytes)
      throw new AnswerRefused(`has an event larger than ${maxEventBytes / 1_000_000} MB`);
  }

  /** Returns the bytes after the last complete event. */
  rest(): Uint8Array<ArrayBuffer> {
    return this.#held.take();
  }

  #hold(bytes: Uint8Array): void {
    this.#held.add(bytes);
    this.#refuseLoneReturn(bytes);
    this.#lineBytes += bytes.length;
  }

  /** A parser of events would find more lines and more events than are counted here. @throws AnswerRefused */
  #refuseLoneReturn(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const isLone = (next: number | undefined) => next !== undefined && next !== lineFeed;
    let isRefused = this.#isAfterReturn && isLone(bytes[0]);
    for (let at = bytes.indexOf(carriageReturn); at >= 0; at = bytes.indexOf(carriageReturn, at + 1))
      isRefused ||= isLone(bytes[at + 1]);
    if (isRefused) throw new AnswerRefused('ends a line with a lone carriage return');
    this.#isAfterReturn = bytes.at(-1) === carriageReturn;
  }

  #endEvent(): Uint8Array<ArrayBuffer> {
    const { maxEvents } = this.#limits;
    this.#events += 1;
    if (this.#events > maxEvents) throw new AnswerRefused(`has more than ${maxEvents} events`);
    return this.#held.take();
  }
}

/**
 * How long a loop may block the event loop. Handling a request takes three or four iterations of the event loop, so
 * each must be short.
 */
const turnMs = 10;

/**
 * Returns a function for loops that await data that has already arrived. Awaiting its result yields to the event loop
 * every few milliseconds. Otherwise a fast server would keep timers and other requests waiting.
 */
function takeTurns(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < turnMs) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
}

/** The time limits for a response. */
export interface Clock {
  /** Aborted with AnswerRefused when the time is up, or with AnswerStalled after too long a silence. */
  signal: AbortSignal;
  /** Starts the limit on silence over. Call it whenever something arrives. */
  heard(maxSilenceMs: number): void;
  /**
   * Checks the time in busy loops, in which timers do not fire.
   * @throws AnswerRefused when the time is up
   */
  check(): void;
  stop(): void;
  /** Aborts the request, because its response is no longer needed. */
  end(): void;
}

function startClock(maxMs: number): Clock {
  const end = performance.now() + maxMs;
  const late = () => new AnswerRefused(`was not complete after ${maxMs / 1000} s`);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(late()), maxMs).unref();
  let silence: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    clearTimeout(silence);
  };
  return {
    signal: over.signal,
    heard: (ms) => {
      silence ??= setTimeout(() => over.abort(new AnswerStalled(ms / 1000)), ms).unref();
      silence.refresh();
    },
    check: () => {
      if (performance.now() > end) throw late();
    },
    stop,
    end: () => {
      stop();
      over.abort();
    },
  };
}

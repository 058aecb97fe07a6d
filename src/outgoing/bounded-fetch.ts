import { JsonCost } from '../domain/json/json-cost.ts';
import { AnswerRefused } from '../errors.ts';
import { boundedEvents, type EventLimits, growingBytes } from './bounded-events.ts';
import { startClock } from './clock.ts';
import { takeTurns } from './take-turns.ts';

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

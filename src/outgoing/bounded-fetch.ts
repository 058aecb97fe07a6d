import { AnswerRefused } from '../errors.ts';
import { boundedEvents, type EventLimits } from './bounded-events.ts';
import { readWhole } from './read-whole.ts';

/** What one answer of another server may cost us. */
export interface AnswerLimits {
  /** Bytes of an answer that is read whole, counted after decompression. */
  maxBytes: number;
  /** Milliseconds from the call to the last byte. */
  maxMs: number;
  /** Values in a JSON answer (see `jsonCost`); unlimited when absent. */
  maxValues?: number;
  /** For servers that answer with events; without it a stream of events is read whole like everything else. */
  events?: EventLimits;
}

/** More of an error's text tells nobody anything; what follows is not read. */
const maxErrorBytes = 65_536;
const maxRedirects = 3;

/**
 * `fetch` for servers that may be broken or hostile: an answer is given up when it grows too large or takes too long, and
 * a redirect is followed only within the same origin, because the request may carry a key. Except for streams of events
 * the answer has arrived completely when this returns.
 * @throws AnswerRefused beyond a limit
 */
export function boundedFetch(limits: AnswerLimits): typeof fetch {
  return async (input, init = {}) => {
    const clock = startClock(limits.maxMs);
    const signal = init.signal ? AbortSignal.any([init.signal, clock.signal]) : clock.signal;
    let isStream = false;
    try {
      const answer = await fetchWithinOrigin(input, { ...init, signal });
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

export interface Clock {
  signal: AbortSignal;
  /** For loops in which no timer gets its turn. @throws AnswerRefused when the time is over */
  check(): void;
  stop(): void;
  /** Breaks off what is under way; nobody wants it any more. */
  end(): void;
}

function startClock(maxMs: number): Clock {
  const end = performance.now() + maxMs;
  const late = () => new AnswerRefused(`was not complete after ${maxMs / 1000} s`);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(late()), maxMs).unref();
  return {
    signal: over.signal,
    check: () => {
      if (performance.now() > end) throw late();
    },
    stop: () => clearTimeout(timer),
    end: () => {
      clearTimeout(timer);
      over.abort();
    },
  };
}

async function fetchWithinOrigin(input: string | URL | Request, init: RequestInit): Promise<Response> {
  let url = new URL(input instanceof Request ? input.url : input);
  const method = (init.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
  const isRepeatable = !(input instanceof Request) && (init.body == null || typeof init.body === 'string');
  for (let redirects = 0; ; redirects++) {
    const answer = await fetch(input instanceof Request ? input : url.href, { ...init, redirect: 'manual' });
    const location = answer.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === null) return answer;
    await answer.body?.cancel();
    const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
    if (next?.origin !== url.origin) throw new AnswerRefused('redirects to another host');
    // 301 to 303 turn a POST into a GET, which asks for something else.
    const isKept = method === 'GET' || method === 'HEAD' || answer.status >= 307;
    if (!isKept || !isRepeatable || redirects === maxRedirects) throw new AnswerRefused('redirects without an end');
    url = next;
  }
}

function copyOf(answer: Response, body: Uint8Array<ArrayBuffer> | ReadableStream | null): Response {
  const { status, statusText, headers, url } = answer;
  const copy = new Response(body, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}

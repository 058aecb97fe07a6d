import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestOpts } from '@oazapfts/runtime';
import { DeckhandError, errorOf, mayBeReached, unreachable } from './errors.ts';

type Fetch = typeof globalThis.fetch;

export interface ServiceOptions {
  /** Where the service is, such as `https://deckhand.example.com`. */
  url: string;
  /** An API token, from the page "API tokens" of the dashboard. */
  token: string;
  /** The most seconds that a call waits between its tries, all together; 60 by default. */
  maxWaitSeconds?: number;
  /** Sends the requests; `fetch` by default. */
  fetch?: Fetch;
}

/** Options that each function of the client takes as its last argument. */
export interface Service extends RequestOpts {
  baseUrl: string;
  headers: Record<string, string>;
  fetch: Fetch;
}

/** How long to wait for the reply to a read. A write may take as long as it needs. */
const readMs = 60_000;
/** The pauses after requests without a reply, in milliseconds. */
const pausesMs = [300, 1000, 3000];

/**
 * Returns what the functions of the client need to call a service: `listInbox({}, service({ url, token }))`. They throw
 * `DeckhandError`. A GET, and a POST by its `Idempotency-Key`, is repeated when the connection broke, and after 429 and
 * 503 when the service says how long to wait.
 */
export function service({ url, token, maxWaitSeconds = 60, fetch: send = globalThis.fetch }: ServiceOptions): Service {
  const baseUrl = apiOf(url);
  // Without this check, the message of the platform would contain the token.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new DeckhandError(0, 'The token is empty, or has spaces or letters that no token has. Copy it again.');
  const repeating: Fetch = (input, init = {}) => {
    const method = (init.method ?? 'GET').toUpperCase();
    const headers = new Headers(init.headers);
    if (method === 'POST' && !headers.has('Idempotency-Key')) headers.set('Idempotency-Key', randomUUID());
    const request = { ...init, method, headers, redirect: 'manual' as const };
    return repeat(() => attempt(send, input, request, baseUrl), {
      isRepeatable: method === 'GET' || method === 'POST',
      maxWaitMs: maxWaitSeconds * 1000,
      signal: init.signal ?? undefined,
    });
  };
  return { baseUrl, headers: { Authorization: `Bearer ${token}` }, fetch: repeating };
}

/** Tries until there is a response or the error is final. */
async function repeat(
  tryOnce: () => Promise<Response | DeckhandError>,
  { isRepeatable, maxWaitMs, signal }: { isRepeatable: boolean; maxWaitMs: number; signal: AbortSignal | undefined },
): Promise<Response> {
  let left = maxWaitMs;
  for (let tries = 0; ; tries++) {
    const found = await tryOnce();
    if (found instanceof Response) return found;
    const pause = isRepeatable ? pauseAfter(found, tries) : undefined;
    if (pause === undefined || pause > left) throw found;
    left -= pause;
    await sleep(pause, undefined, { signal });
  }
}

/** Returns the base of the REST API at the address that a person knows. */
function apiOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    throw new DeckhandError(0, 'The address must look like https://deckhand.example.com, without a user or password.');
  return `${parsed.origin}${parsed.pathname.replace(/(?:\/api\/v1)?\/?$/, '')}/api/v1`;
}

async function attempt(
  send: Fetch,
  input: Parameters<Fetch>[0],
  request: RequestInit & { method: string; headers: Headers },
  baseUrl: string,
): Promise<Response | DeckhandError> {
  const isRead = request.method === 'GET' && !request.headers.get('accept')?.includes('event-stream');
  const limits = [request.signal ?? [], isRead ? AbortSignal.timeout(readMs) : []].flat();
  try {
    const response = await send(input, limits.length === 0 ? request : { ...request, signal: AbortSignal.any(limits) });
    if (!response.ok) return await errorOf(response);
    if (response.headers.get('content-type')?.startsWith('text/html'))
      return new DeckhandError(
        0,
        `${baseUrl} answered with a web page. Check the address, and the proxy in front of it.`,
      );
    return response;
  } catch (error) {
    if (request.signal?.aborted) throw error;
    return unreachable(new URL(baseUrl).origin, error);
  }
}

/** Returns how many milliseconds to wait before another try, or undefined if the error is final. */
function pauseAfter(error: DeckhandError, tries: number): number | undefined {
  const pause = pausesMs[tries];
  if (pause === undefined) return undefined;
  if (mayBeReached(error)) return pause;
  // The first try may still be under way, although its connection broke.
  if (tries > 0 && error.status === 409 && /Idempotency-Key is still under way/.test(error.message)) return pause;
  const asked = [429, 503].includes(error.status) ? error.retryAfter : undefined;
  return asked === undefined ? undefined : Math.max(asked * 1000, pause);
}

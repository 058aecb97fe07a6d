import { type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { AnswerRefused } from '../errors.ts';
import { readsOfStrangers } from '../host/fair-turns.ts';
import { type NextHop, noProxies, type Proxies } from '../host/proxies.ts';
import { bodyOf, ciphers, TooManyChunks, whenUnanswered } from '../host/strangers.ts';
import { agentThrough, explained, refusedByProxy } from '../host/through-proxy.ts';
import { connectApart } from './tls-apart.ts';

type Address = { address: string; family: number };

/** The address or the proxy to connect to; undefined where every address is allowed. */
type Route = Address | { proxy: NextHop } | undefined;

/** Resolves and checks the host of a URL. Throws when it must not be contacted. */
export type AddressOf = (url: URL) => Promise<Route>;

/**
 * Returns a `fetch` for addresses that people configure. Before each request, `addressOf` resolves the host and throws
 * if the address is closed. The request then goes to exactly that address, because resolving the name a second time could
 * return another one. Redirects are returned to the caller instead of being followed. Only strings and bytes can be sent.
 */
export function pinnedFetch(addressOf: AddressOf): typeof fetch {
  return fetchFrom(addressOf, false);
}

function fetchFrom(addressOf: AddressOf, isTrusted: boolean): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const signal = init.signal ?? undefined;
    const route = await orAborted(addressOf(url), signal);
    const answer = responseOf(await send(url, init, { route, signal, isTrusted }), isTrusted);
    // Octokit takes the next page from the address of an answer, which that of a new `Response` lacks.
    return Object.defineProperty(answer, 'url', { value: url.href });
  };
}

/**
 * Returns a `fetch` for hosts that the operator has chosen, which waits as long as its signal allows. Node's own gives up
 * after 300 s without a byte, and a model may need longer than that to read a long prompt.
 */
export function patientFetch(proxies: Proxies = noProxies): typeof fetch {
  return fetchFrom(async (url) => {
    const proxy = proxies.find(url);
    return proxy && { proxy };
  }, true);
}

/** How a request is sent along a route. */
function optionsFor(url: URL, { route, isTrusted }: Sending): RequestOptions {
  if (route !== undefined && 'proxy' in route) return { agent: agentThrough(route.proxy, url.protocol) };
  if (isTrusted) return {};
  // Otherwise a connection of an earlier request could be used, which may lead to another address.
  if (url.protocol !== 'https:') return { agent: false, ...(route === undefined ? {} : { lookup: pinnedTo(route) }) };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const target = { address: route?.address ?? host, port: Number(url.port || 443), host };
  // With an agent, Node would not use this connection, and send everything unencrypted.
  return { protocol: 'http:', defaultPort: 443, createConnection: () => connectApart(target) };
}

interface Sending {
  route: Route;
  signal: AbortSignal | undefined;
  /** Whether the operator has chosen the host. */
  isTrusted: boolean;
}

function send(url: URL, init: RequestInit, sending: Sending): Promise<IncomingMessage> {
  const { route, signal, isTrusted } = sending;
  const options: RequestOptions = {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    ciphers,
    ...optionsFor(url, sending),
  };
  const proxy = route !== undefined && 'proxy' in route ? route.proxy : undefined;
  return new Promise((resolve, reject) => {
    const isApart = options.createConnection !== undefined;
    const request = url.protocol === 'https:' && !isApart ? requestHttps : requestHttp;
    const sent = request(url, options);
    let answer: IncomingMessage | undefined;
    const stop = () => {
      // Otherwise the reader of the body would see a connection error instead of the reason.
      answer?.destroy(signal?.reason);
      sent.destroy(signal?.reason);
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    sent.once('response', (received) => {
      answer = received;
      if (proxy === undefined || received.statusCode !== 407) return resolve(received);
      received.destroy();
      reject(refusedByProxy(proxy, 407, url.host));
    });
    sent.once('close', () => signal?.removeEventListener('abort', stop));
    // Errors after the response arrive through its body.
    sent.on('error', (error) => reject(proxy === undefined ? error : explained(error, proxy, url.host)));
    whenUnanswered(sent, reject);
    if (!isTrusted) sent.once('socket', (socket) => readsOfStrangers.watch(socket, url.host));
    const { body } = init;
    sent.end(typeof body === 'string' || body instanceof Uint8Array ? body : undefined);
  });
}

function pinnedTo({ address, family }: Address): LookupFunction {
  return (_host, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family));
}

/** Statuses whose responses have no body. */
const bodyless = [204, 205, 304];

/** Converts a response to that of `fetch`. @throws AnswerRefused for what `fetch` could not represent */
function responseOf(answer: IncomingMessage, isTrusted: boolean): Response {
  const { statusCode: status = 0, headers: given } = answer;
  const encoding = given['content-encoding'] ?? 'identity';
  const problem =
    status < 200 || status > 599
      ? 'has an unknown status'
      : encoding === 'identity'
        ? undefined
        : 'is compressed, although that was not asked for';
  if (problem !== undefined) {
    answer.destroy();
    throw new AnswerRefused(problem);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) headers.set(name, String(value));
  if (bodyless.includes(status)) {
    // Nobody would end what a server sends as the body of a 205.
    answer.destroy();
    return new Response(null, { status, headers });
  }
  return new Response(isTrusted ? (Readable.toWeb(answer) as ReadableStream<Uint8Array>) : streamOf(answer), {
    status,
    headers,
  });
}

function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  // Without a listener, the reader would not see the error.
  answer.on('error', () => {});
  const chunks = bodyOf(answer);
  const next = () =>
    chunks.next().catch((error) => {
      throw error instanceof TooManyChunks ? new AnswerRefused('consists of too many small chunks') : error;
    });
  const pull = async (stream: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await next();
    if (done) stream.close();
    else stream.enqueue(value);
  };
  return new ReadableStream({ pull, cancel: () => void answer.destroy() }, { highWaterMark: 0 });
}

/** Waits for `work`, but no longer than until the signal aborts. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

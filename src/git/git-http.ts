import { request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';

/** Silence that long means that the other side is gone; a large push takes its time to be answered. */
const silenceMs = 60_000;

/**
 * HTTP for isomorphic-git. Its own client gives up after 5 s of silence although the push arrives; this one also dials
 * only the address that was checked (`resolved`, as in Remote) and follows no redirect.
 */
export function gitHttp(resolved: string | undefined, signal: AbortSignal | undefined): HttpClient {
  const address = resolved
    ?.split(':')
    .slice(2)
    .join(':')
    .replace(/^\[|\]$/g, '');
  return { request: (asked) => ask(asked, address, signal) };
}

function ask(
  asked: GitHttpRequest,
  address: string | undefined,
  signal: AbortSignal | undefined,
): Promise<GitHttpResponse> {
  const url = new URL(asked.url);
  const options: RequestOptions = {
    method: asked.method ?? 'GET',
    headers: { ...asked.headers, 'User-Agent': 'git/isomorphic-git' },
  };
  if (address !== undefined) options.lookup = pinned(address);
  if (signal !== undefined) options.signal = signal;
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = send(url, options, (answer) => {
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(answer.headers)) headers[name] = String(value);
      resolve({
        url: asked.url,
        method: asked.method ?? 'GET',
        statusCode: answer.statusCode ?? 0,
        statusMessage: answer.statusMessage ?? '',
        headers,
        body: answer[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>,
      });
    });
    sent.setTimeout(silenceMs, () => sent.destroy(new Error('Connection timed out')));
    sent.once('error', reject);
    collect(asked.body).then((body) => sent.end(body), reject);
  });
}

async function collect(body: GitHttpRequest['body']): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  if (body) for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function pinned(address: string): LookupFunction {
  const family = address.includes(':') ? 6 : 4;
  return (_host, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family));
}

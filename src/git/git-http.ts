import { request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { GitFailed, type Remote, silenceSeconds } from './engine.ts';

/**
 * HTTP for isomorphic-git. Its own client gives up after 5 s of silence although the push arrives; this one also dials
 * only the address that was checked (`resolved`, as in Remote), follows no redirect and takes no endless answer.
 */
export function gitHttp(remote: Remote, signal: AbortSignal | undefined): HttpClient {
  return { request: (asked) => ask(asked, remote, signal) };
}

function ask(
  asked: GitHttpRequest,
  { resolved, patienceSeconds = silenceSeconds, maxAnswerBytes }: Remote,
  signal: AbortSignal | undefined,
): Promise<GitHttpResponse> {
  const url = new URL(asked.url);
  const options: RequestOptions = {
    method: asked.method ?? 'GET',
    headers: { ...asked.headers, 'User-Agent': 'git/isomorphic-git' },
  };
  if (resolved !== undefined) options.lookup = pinned(resolved);
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
        body: gated(answer, maxAnswerBytes),
      });
    });
    sent.setTimeout(patienceSeconds * 1000, () => sent.destroy(new Error('Connection timed out')));
    sent.once('error', reject);
    collect(asked.body).then((body) => sent.end(body), reject);
  });
}

async function* gated(answer: AsyncIterable<Uint8Array>, max = Number.POSITIVE_INFINITY) {
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > max)
      throw new GitFailed(
        'broken',
        `git: the repository is larger than ${max / 1e6} MB, too large for git in JavaScript; install git (GIT_ENGINE=native)`,
      );
    yield chunk;
  }
}

async function collect(body: GitHttpRequest['body']): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  if (body) for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function pinned(resolved: string): LookupFunction {
  const [, , ...rest] = resolved.split(':');
  const address = rest.join(':').replace(/^\[|\]$/g, '');
  const family = address.includes(':') ? 6 : 4;
  return (_host, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family));
}

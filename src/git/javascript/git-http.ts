import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { retryAfterMs } from '../../domain/waiting.ts';
import { GitFailed, leastBytesPerSecond, type Remote, silenceSeconds } from '../engine.ts';
import { answerFault, isOfGit, notGit } from '../native/explain.ts';

/**
 * Creates the HTTP client for isomorphic-git. The library's own client gives up after 5 s of silence, although the push
 * may still succeed. This client connects only to the address that was checked (`Remote.resolved`), follows no
 * redirects and limits the response size.
 */
export function gitHttp(remote: Remote, signal: AbortSignal | undefined): HttpClient & { assertWhole(): void } {
  let cut: GitFailed | undefined;
  const cutBy = (error: GitFailed) => {
    cut = error;
  };
  return {
    request: (asked) => ask(asked, remote, signal, cutBy),
    // The library ignores read errors, so it would take a truncated list of branches for a complete one.
    assertWhole: () => {
      if (cut !== undefined) throw cut;
    },
  };
}

function ask(
  asked: GitHttpRequest,
  { resolved, patienceSeconds = silenceSeconds, maxAnswerBytes }: Remote,
  signal: AbortSignal | undefined,
  cutBy: (error: GitFailed) => void,
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
      const fault = faultOf(answer);
      if (fault !== undefined) {
        answer.destroy();
        return reject(fault);
      }
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(answer.headers)) headers[name] = String(value);
      resolve({
        url: asked.url,
        method: asked.method ?? 'GET',
        statusCode: answer.statusCode ?? 0,
        statusMessage: answer.statusMessage ?? '',
        headers,
        body: gated(answer, maxAnswerBytes, cutBy),
      });
    });
    sent.setTimeout(patienceSeconds * 1000, () => sent.destroy(new Error('Connection timed out')));
    endWhenSlow(sent, patienceSeconds);
    sent.once('error', (error) => reject(cutOff(error)));
    collect(asked.body).then((body) => sent.end(body), reject);
  });
}

/** Returns what a response says of a fault. Rejected credentials are left to the library, which sends others then. */
function faultOf({ statusCode: status = 0, headers }: IncomingMessage): GitFailed | undefined {
  const fault = answerFault({ status, retryAfterMs: retryAfterMs(headers['retry-after']) });
  if (fault !== undefined && fault.fault !== 'auth') return fault;
  const type = headers['content-type'] ?? '';
  return status === 200 && !isOfGit(type) ? notGit(type) : undefined;
}

/** Returns `unreachable` for every network error. */
function cutOff(error: Error): GitFailed {
  return error instanceof GitFailed ? error : new GitFailed('unreachable', `git: ${error.message}`);
}

/** Ends a request that transfers too slowly. The socket's timeout only detects silence, not a slow trickle of bytes. */
function endWhenSlow(sent: ClientRequest, seconds: number): void {
  let before: number | undefined;
  const watch = setInterval(() => {
    const { socket } = sent;
    if (socket == null) return;
    const now = socket.bytesRead + socket.bytesWritten;
    if (before !== undefined && now - before < seconds * leastBytesPerSecond)
      sent.destroy(
        new Error(`the remote transferred less than ${leastBytesPerSecond} bytes a second for ${seconds} s`),
      );
    before = now;
  }, seconds * 1000).unref();
  sent.once('close', () => clearInterval(watch));
}

async function* gated(
  answer: AsyncIterable<Uint8Array>,
  max = Number.POSITIVE_INFINITY,
  cutBy: (error: GitFailed) => void,
) {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += chunk.length;
      if (bytes > max)
        throw new GitFailed(
          'broken',
          `git: the repository is larger than ${max / 1e6} MB, too large for git in JavaScript; install git (GIT_ENGINE=native)`,
        );
      yield chunk;
    }
  } catch (error) {
    const cut = cutOff(error as Error);
    cutBy(cut);
    throw cut;
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

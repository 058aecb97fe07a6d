// The download half of Git LFS (git-lfs, docs/api/batch.md and docs/api/basic-transfers.md).

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { RunFailed } from '../../domain/run.ts';
import { retryAfterMs } from '../../domain/waiting.ts';
import { refusedAnswer } from '../../errors.ts';
import { GitFailed, type Remote } from '../../git/engine.ts';
import { HostClosed, normalUrl } from '../../git/remote-url.ts';
import { boundedFetch } from '../../outgoing/bounded-fetch.ts';
import type { Pointer } from './lfs-pointer.ts';

/** Objects that one request asks for. GitHub's own client asks for as many. */
const objectsAtOnce = 100;
const downloadsAtOnce = 8;
const batchMs = 60_000;
/**
 * Limits of an answer to one request: 5 kB and 100 values for each object. Hosts send about 1.5 kB and 25 values. The schema
 * spends 10 to 25 µs on each value that does not fit.
 */
const answerLimits = {
  maxBytes: 5_000 * objectsAtOnce,
  maxValues: 100 * objectsAtOnce,
  // Only for an answer that keeps the event loop busy. The signal of the request is earlier, and then it counts as unreachable.
  maxMs: 2 * batchMs,
};
/** Headers of one download. Signed addresses need about five. */
const maxHeaders = 32;
const maxHeaderName = 100;
const maxHeaderValue = 8192;
const downloadMs = 600_000;
const mediaType = 'application/vnd.git-lfs+json';

const Answer = z.object({
  objects: z
    .array(
      z.object({
        oid: z.string(),
        error: z.object({ code: z.number(), message: z.string() }).optional(),
        actions: z
          .object({
            download: z.object({ href: z.string().max(10_000), header: z.unknown().optional() }).optional(),
          })
          .optional(),
      }),
    )
    .max(objectsAtOnce),
});

/** A pointer and the path of a file that has it, for messages. */
export interface Wanted extends Pointer {
  path: string;
}

/** Where an object can be downloaded. */
interface Download extends Wanted {
  href: string;
  header: Record<string, string>;
}

/** Downloads objects of one repository. `fetch` must check every address, because the host's answers name others. */
export class LfsClient {
  /** Replaced when the token is renewed. */
  #remote: Remote;
  readonly #fetch: typeof fetch;
  /** For answers that are read as a whole. */
  readonly #fetchBounded: typeof fetch;
  readonly #signal: AbortSignal;

  constructor(remote: Remote, fetchChecked: typeof fetch, signal: AbortSignal) {
    this.#remote = remote;
    this.#fetch = fetchChecked;
    this.#fetchBounded = boundedFetch(answerLimits, fetchChecked);
    this.#signal = signal;
  }

  renewToken(token: string | undefined): void {
    this.#remote = { ...this.#remote, token };
  }

  /**
   * Asks where to download objects.
   * @throws RunFailed `repository` for one that the host does not have
   */
  async find(wanted: Wanted[]): Promise<Download[]> {
    const found: Download[] = [];
    for (let at = 0; at < wanted.length; at += objectsAtOnce)
      found.push(...(await this.#batch(wanted.slice(at, at + objectsAtOnce))));
    return found;
  }

  /** Downloads objects; `fileOf` names their files. Each is complete or not there. */
  async download(downloads: Download[], fileOf: (oid: string) => string): Promise<void> {
    const left = [...downloads];
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await this.#get(next, fileOf(next.oid));
    };
    const all = Array.from({ length: downloadsAtOnce }, () =>
      work().catch((error) => {
        // The others finish the object that they have begun.
        left.length = 0;
        throw error;
      }),
    );
    await Promise.allSettled(all);
    await Promise.all(all);
  }

  async #batch(wanted: Wanted[]): Promise<Download[]> {
    const url = `${normalUrl(this.#remote.url)}.git/info/lfs/objects/batch`;
    const response = await this.#ask(this.#fetchBounded, url, batchMs, {
      method: 'POST',
      headers: { Accept: mediaType, 'Content-Type': mediaType, ...this.#authorization() },
      body: JSON.stringify({
        operation: 'download',
        transfers: ['basic'],
        hash_algo: 'sha256',
        objects: wanted.map(({ oid, size }) => ({ oid, size })),
      }),
    });
    const parsed = Answer.safeParse(await response.json().catch(() => undefined));
    if (!parsed.success) throw refused('is not one of Git LFS');
    const objects = new Map(parsed.data.objects.map((object) => [object.oid, object]));
    return wanted.map((each) => {
      const object = objects.get(each.oid);
      const { href, header } = object?.actions?.download ?? {};
      if (href !== undefined && object?.error === undefined) return { ...each, href, header: headersIn(header) };
      const said = object?.error === undefined ? '' : ` (${object.error.code})`;
      throw new RunFailed(
        'repository',
        `Git LFS: the host does not have the object of ${shown(each.path)}${said}, sha256 ${each.oid}; push it with git lfs push`,
      );
    });
  }

  async #get({ path, oid, size, href, header }: Download, file: string): Promise<void> {
    if (!URL.canParse(href)) throw new RunFailed('repository', `Git LFS: the host names no address for ${shown(path)}`);
    // Only to the repository's own host, and only if its answer has no credentials for the download.
    const isOwn = new URL(href).origin === new URL(this.#remote.url).origin;
    const hasOne = Object.keys(header).some((name) => name.toLowerCase() === 'authorization');
    const headers = { ...(isOwn && !hasOne ? this.#authorization() : {}), ...header };
    const response = await this.#ask(this.#fetch, href, downloadMs, { headers });
    const hash = createHash('sha256');
    let bytes = 0;
    const counted = async function* (body: AsyncIterable<Uint8Array>) {
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > size) return;
        hash.update(chunk);
        yield chunk;
      }
    };
    const unfinished = `${file}.part`;
    try {
      const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never);
      await pipeline(body, counted, createWriteStream(unfinished), { signal: this.#signal });
      if (bytes !== size || hash.digest('hex') !== oid)
        throw new RunFailed(
          'repository',
          `Git LFS: what the host sent for ${shown(path)} is not what its pointer names`,
        );
      await rename(unfinished, file);
    } catch (error) {
      await rm(unfinished, { force: true });
      this.#signal.throwIfAborted();
      throw error instanceof RunFailed ? error : unreachable((error as Error).message);
    }
  }

  #authorization(): Record<string, string> {
    const { token } = this.#remote;
    return token === undefined
      ? {}
      : { Authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` };
  }

  /** Sends a request. No redirect is followed, because the token belongs to the address that was asked. */
  async #ask(send: typeof fetch, url: string, ms: number, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(ms)]);
    const response = await send(url, { ...init, signal }).catch((error) => {
      this.#signal.throwIfAborted();
      const answer = refusedAnswer(error);
      if (answer !== undefined) throw refused(answer.what);
      const { message } = error as Error;
      // The address is refused by the rules for repositories, now and later.
      const isRefused = error instanceof HostClosed || message.startsWith('the address ');
      throw isRefused ? new RunFailed('repository', `Git LFS: ${message}`) : unreachable(message);
    });
    const { status } = response;
    if (status === 200) return response;
    await response.body?.cancel();
    const waitMs = retryAfterMs(response.headers.get('retry-after') ?? undefined);
    if (status === 429 || status >= 500) throw unreachable(`the host answered with HTTP ${status}`, waitMs);
    throw new RunFailed(
      'repository',
      `Git LFS: the host answered with HTTP ${status}; it may not have Git LFS for this repository, or refuses the credentials`,
    );
  }
}

function unreachable(why: string, waitMs?: number): GitFailed {
  return new GitFailed('unreachable', `git: Git LFS: ${why}`, waitMs);
}

/** @param what the predicate of a sentence about the answer */
function refused(what: string): RunFailed {
  return new RunFailed('repository', `Git LFS: the answer of the host ${what}`);
}

/** These describe the connection, which is ours. git-lfs sends none of them either. */
const ofConnection =
  /^(?:host|connection|content-length|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Returns the headers that the host wants to have with a download.
 * @throws RunFailed `repository` for what cannot be sent, or is too much
 */
function headersIn(given: unknown): Record<string, string> {
  if (given === undefined || given === null) return {};
  const entries = typeof given === 'object' && !Array.isArray(given) ? Object.entries(given) : undefined;
  if (entries === undefined || entries.length > maxHeaders || !entries.every(isHeader))
    throw refused(
      `names headers that cannot be sent; at most ${maxHeaders} are, with names of ${maxHeaderName} and values of ${maxHeaderValue} characters`,
    );
  return Object.fromEntries(entries.filter(([name]) => !ofConnection.test(name)));
}

function isHeader(entry: [name: string, value: unknown]): entry is [string, string] {
  const [name, value] = entry;
  if (typeof value !== 'string' || name.length > maxHeaderName || value.length > maxHeaderValue) return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function shown(path: string): string {
  return path.replace(/\p{Cc}/gu, '?').slice(0, 200);
}

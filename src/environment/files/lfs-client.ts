// The protocol of Git LFS (git-lfs, docs/api/batch.md and docs/api/basic-transfers.md).

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { RunFailed, UploadRefused } from '../../domain/run.ts';
import { retryAfterMs } from '../../domain/waiting.ts';
import { refusedAnswer } from '../../errors.ts';
import { GitFailed, type Remote } from '../../git/engine.ts';
import { HostClosed, normalUrl } from '../../git/remote-url.ts';
import { boundedFetch } from '../../outgoing/bounded-fetch.ts';
import type { Pointer } from './lfs-pointer.ts';

/** Objects that one request asks for. GitHub's own client asks for as many. */
const objectsAtOnce = 100;
const downloadsAtOnce = 8;
/** Each is in memory until it is sent. */
const uploadsAtOnce = 3;
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
/** Headers of one transfer. Signed addresses need about five. */
const maxHeaders = 32;
const maxHeaderName = 100;
const maxHeaderValue = 8192;
const transferMs = 600_000;
const mediaType = 'application/vnd.git-lfs+json';

const Action = z.object({ href: z.string().max(10_000), header: z.unknown().optional() });

const Answer = z.object({
  objects: z
    .array(
      z.object({
        oid: z.string(),
        error: z.object({ code: z.number(), message: z.string() }).optional(),
        actions: z
          .object({ download: Action.optional(), upload: Action.optional(), verify: Action.optional() })
          .nullish(),
      }),
    )
    .max(objectsAtOnce),
});

/** A pointer and the path of a file that has it, for messages. */
export interface Wanted extends Pointer {
  path: string;
}

/** A request that the host asks for. */
interface Action {
  href: string;
  header: Record<string, string>;
}

/** Where an object can be downloaded. */
type Download = Wanted & Action;

/** What the host says about an object. */
type Answered = z.infer<typeof Answer>['objects'][number] | undefined;

/** Downloads and uploads objects of one repository. `fetch` must check every address, because the host's answers name others. */
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
      found.push(...(await this.#findSome(wanted.slice(at, at + objectsAtOnce))));
    return found;
  }

  /** Downloads objects; `fileOf` names their files. Each is complete or not there. */
  async download(downloads: Download[], fileOf: (oid: string) => string): Promise<void> {
    await atOnce(downloadsAtOnce, downloads, (next) => this.#get(next, fileOf(next.oid)));
  }

  /**
   * Makes sure that the host has some objects: uploads those that it lacks. `fileOf` names their files, and `ref` is where
   * their pointers are going to be pushed.
   * @throws UploadRefused when the host refuses one
   */
  async upload(wanted: Wanted[], fileOf: (oid: string) => string, ref: string): Promise<void> {
    for (let at = 0; at < wanted.length; at += objectsAtOnce) {
      const some = wanted.slice(at, at + objectsAtOnce);
      const answered = await this.#batch({ operation: 'upload', ref: { name: ref } }, some);
      // All answers are looked at before the first object is sent.
      for (const [i, each] of some.entries()) assertTaken(each, answered[i]);
      const lacking = some.flatMap((each, i) => {
        const { upload, verify } = answered[i]?.actions ?? {};
        // Without actions, the host has the object.
        return upload === undefined ? [] : [{ each, upload: actionIn(upload), verify: verify && actionIn(verify) }];
      });
      await atOnce(uploadsAtOnce, lacking, async ({ each, upload, verify }) => {
        await this.#put(each, upload, fileOf(each.oid));
        if (verify !== undefined) await this.#verify(each, verify);
      });
    }
  }

  async #findSome(wanted: Wanted[]): Promise<Download[]> {
    const answered = await this.#batch({ operation: 'download' }, wanted);
    return wanted.map((each, i) => {
      const object = answered[i];
      const { download } = object?.actions ?? {};
      if (download !== undefined && object?.error === undefined) return { ...each, ...actionIn(download) };
      const said = object?.error === undefined ? '' : ` (${object.error.code})`;
      throw new RunFailed(
        'repository',
        `Git LFS: the host does not have the object of ${shown(each.path)}${said}, sha256 ${each.oid}; push it with git lfs push`,
      );
    });
  }

  /** Asks the host about some objects, and returns its answers in their order. */
  async #batch(
    what: { operation: 'download' | 'upload'; ref?: { name: string } },
    wanted: Wanted[],
  ): Promise<Answered[]> {
    const url = `${normalUrl(this.#remote.url)}.git/info/lfs/objects/batch`;
    const init = {
      method: 'POST',
      headers: { Accept: mediaType, 'Content-Type': mediaType, ...this.#authorization() },
      body: JSON.stringify({
        ...what,
        transfers: ['basic'],
        hash_algo: 'sha256',
        objects: wanted.map(({ oid, size }) => ({ oid, size })),
      }),
    };
    const explain =
      what.operation === 'upload' ? (status: number) => notTaken('the objects of this change', status) : undefined;
    const response = await this.#ask(this.#fetchBounded, url, batchMs, init, explain);
    const parsed = Answer.safeParse(await response.json().catch(() => undefined));
    if (!parsed.success) throw refused('is not one of Git LFS');
    const objects = new Map(parsed.data.objects.map((object) => [object.oid, object]));
    return wanted.map(({ oid }) => objects.get(oid));
  }

  async #put({ path, oid, size }: Wanted, { href, header }: Action, file: string): Promise<void> {
    const body = await readFile(file);
    if (body.length !== size || createHash('sha256').update(body).digest('hex') !== oid)
      throw new RunFailed(
        'internal',
        `the contents of ${shown(path)} have changed since they were read; retry the task`,
      );
    const headers = { 'Content-Type': 'application/octet-stream', ...this.#headersFor(href, header, path) };
    const response = await this.#ask(this.#fetch, href, transferMs, { method: 'PUT', headers, body }, (status) =>
      notTaken(shown(path), status),
    );
    await response.body?.cancel();
  }

  /** Tells the host that an object was sent, where it asks for that. */
  async #verify({ path, oid, size }: Wanted, { href, header }: Action): Promise<void> {
    const headers = { Accept: mediaType, 'Content-Type': mediaType, ...this.#headersFor(href, header, path) };
    const init = { method: 'POST', headers, body: JSON.stringify({ oid, size }) };
    const response = await this.#ask(this.#fetch, href, batchMs, init, (status) => notTaken(shown(path), status));
    await response.body?.cancel();
  }

  /** The token goes only to the repository's own host, and only if the host's answer has no credentials for the request. */
  #headersFor(href: string, header: Record<string, string>, path: string): Record<string, string> {
    if (!URL.canParse(href)) throw new RunFailed('repository', `Git LFS: the host names no address for ${shown(path)}`);
    const isOwn = new URL(href).origin === new URL(this.#remote.url).origin;
    const hasOne = Object.keys(header).some((name) => name.toLowerCase() === 'authorization');
    const own = Object.fromEntries(Object.entries(header).map(([name, value]) => [canonical(name), value]));
    return { ...(isOwn && !hasOne ? this.#authorization() : {}), ...own };
  }

  async #get({ path, oid, size, href, header }: Download, file: string): Promise<void> {
    const headers = this.#headersFor(href, header, path);
    const response = await this.#ask(this.#fetch, href, transferMs, { headers });
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

  /**
   * Sends a request. No redirect is followed, because the token belongs to the address that was asked. `explain` says why an
   * upload was refused.
   */
  async #ask(
    send: typeof fetch,
    url: string,
    ms: number,
    init: RequestInit,
    explain?: (status: number) => RunFailed | undefined,
  ): Promise<Response> {
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
    // Stores such as S3 answer an upload with 200, others with 201 or 204.
    if (status === 200 || (init.method === 'PUT' && (status === 201 || status === 204))) return response;
    await response.body?.cancel();
    const explained = explain?.(status);
    if (explained !== undefined) throw explained;
    const waitMs = retryAfterMs(response.headers.get('retry-after') ?? undefined);
    if (status === 429 || status >= 500) throw unreachable(`the host answered with HTTP ${status}`, waitMs);
    throw new RunFailed(
      'repository',
      `Git LFS: the host answered with HTTP ${status}; it may not have Git LFS for this repository, or refuses the credentials`,
    );
  }
}

/** Handles items, some of them at the same time. After an error, those that have begun are finished. */
async function atOnce<T>(most: number, items: T[], handle: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await handle(next);
  };
  const all = Array.from({ length: most }, () =>
    work().catch((error) => {
      left.length = 0;
      throw error;
    }),
  );
  await Promise.allSettled(all);
  await Promise.all(all);
}

/** @throws RunFailed unless the host has an object, or says how to upload it */
function assertTaken({ path }: Wanted, answered: Answered): void {
  if (answered === undefined) throw refused(`says nothing about ${shown(path)}`);
  const { error } = answered;
  if (error === undefined) return;
  throw notTaken(shown(path), error.code) ?? unreachable(`the host does not take ${shown(path)} (${error.code})`);
}

/** Why a host refuses uploads, by the HTTP status. GitHub answers with 403 when the account has used up its quota. */
const refusals: Record<number, string> = {
  401: 'it does not accept the token',
  403: 'the GitHub App or the git token may not write to Git LFS here, or the quota of the account is used up',
  404: 'Git LFS is not available for this repository, or may not be written to',
  413: 'it is too large for this host',
  422: 'the host calls it invalid',
  507: 'the host has no space left; free or buy storage for Git LFS',
  509: 'the bandwidth of the account is used up',
};

/** Builds the failure for an upload that was refused; undefined if it may succeed later. */
function notTaken(what: string, status: number): UploadRefused | undefined {
  const why = refusals[status];
  if (why === undefined && (status === 429 || status >= 500)) return undefined;
  const text = why ?? 'the host refuses it';
  return new UploadRefused(`Git LFS: ${what} could not be uploaded, so nothing was pushed: ${text} (HTTP ${status})`);
}

function actionIn({ href, header }: z.infer<typeof Action>): Action {
  return { href, header: headersIn(header) };
}

/** Headers that we set, as we write them, so that the host's take their place. */
function canonical(name: string): string {
  const known = ['Accept', 'Content-Type', 'Authorization'].find((own) => own.toLowerCase() === name.toLowerCase());
  return known ?? name;
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
 * Returns the headers that the host wants to have with a transfer.
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

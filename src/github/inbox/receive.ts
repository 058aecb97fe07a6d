import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, RequestHandler } from 'express';
import type { App } from '../../app.ts';
import { readOccurrence } from '../../automations/occurrences.ts';
import { AppError, badRequest } from '../../errors.ts';
import { bodyBudget } from '../../http/limits/body-budget.ts';
import { addressOf } from '../../http/limits/rate-limit.ts';
import { type ArrivedBody, assertReadable, type BodyLimits, readBytes } from '../../http/limits/read-body.ts';
import { listMergingAt } from '../../repositories/merging/store.ts';
import { apart } from '../../threads/apart.ts';
import { currentSpan } from '../../tracing/traced.ts';
import { adoptStoredApp } from '../app/stored-app.ts';
import { findUnhandledDelivery, insertDelivery, listForgottenDeliveries, markHandled } from '../delivery-store.ts';
import { parseBounded } from './read-payload.ts';

/** Parsing JSON blocks the event loop: about 10 ms for this many bytes, a quarter of a second for 25 MB. */
const largeBytes = 1_000_000;
/**
 * Parses large payloads in two threads, because 25 MB of JSON can become hundreds of MB of small objects. One installation
 * uses one of them, and so do payloads that are being received: whose they are is known only afterwards.
 */
const reader = apart<typeof import('./read-payload.ts')>(
  new URL('./read-payload.ts', import.meta.url),
  // GitHub waits no longer.
  { seconds: 10, waitSeconds: 10, heapMb: 768 },
  { atOnce: 2, mostOfTenant: 1 },
);

function isLarge(bytes: number): boolean {
  return bytes > largeBytes;
}

/**
 * Parses a payload. Returns undefined when it is not a JSON object or is nested too deeply. A large payload
 * comes with less; see `readPayload`.
 */
export async function parsePayload(text: string): Promise<object | undefined> {
  const value = isLarge(text.length) ? await reader.call('readPayload', text) : parseBounded(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** GitHub sends at most 25 MB (docs.github.com, "Webhook events and payloads") and waits 10 s for the response. */
const limits: BodyLimits = {
  maxBytes: 25 * 1024 * 1024,
  withinMs: 10_000,
  // One address may send one body of the maximum size and a few smaller ones at the same time.
  budget: bodyBudget({ total: 64 * 1024 * 1024, each: 32 * 1024 * 1024 }),
};
/**
 * Time limit for storing, so that GitHub soon gets an error if the database is down. Storing 25 MB takes some seconds.
 */
const storeMs = 1800;
const storedBytesPerMs = 10_000;

/**
 * Receives webhooks. Checks the signature over the raw bytes, stores the delivery and queues its job in one
 * transaction, and responds with 202. A worker handles the content later. Anybody can send to this address, so the
 * headers are checked before the body is read. A wrong signature does not count against the sender's address, because
 * GitHub sends the events of other people's Apps from the same addresses as ours.
 */
export function webhookReceiver(app: App): RequestHandler {
  return async (req, res) => {
    const secrets = app.githubApp?.webhookSecrets;
    if (secrets === undefined) throw new AppError(404, 'No such address');
    assertReadable(req, limits.maxBytes);
    const claim = readClaim(req);
    const refused = () => {
      app.metrics.deliveries.inc({ event: 'unknown', outcome: 'refused' });
      return new AppError(401, 'The signature is missing or wrong (X-Hub-Signature-256)');
    };
    if (claim === undefined) throw refused();
    const hashes = secrets.map((secret) => createHmac('sha256', secret));
    const body = await readBytes(req, addressOf(req), limits, (block) => {
      for (const hash of hashes) hash.update(block);
    });
    try {
      if (!isOneOf(claim.signature, hashes)) throw refused();
      const { event, guid: deliveryId } = claim;
      const attributes = { 'deckhand.delivery.event': event };
      const beginning = { name: `webhook ${event}`, kind: 'server', ids: { deliveryId }, attributes } as const;
      const isNew = await app.traces.begin(beginning, () => keep(app, claim, body));
      app.metrics.deliveries.inc({ event: claim.event, outcome: isNew ? 'stored' : 'repeated' });
      res.status(202).json({ status: isNew ? 'accepted' : 'known' });
    } finally {
      body.release();
    }
  };
}

interface Claim {
  event: string;
  guid: string;
  signature: string;
}

/**
 * Reads what the headers say about a delivery. Returns undefined when they contain no signature.
 * @throws AppError 400
 */
function readClaim({ headers }: Request): Claim | undefined {
  const signature = header(headers['x-hub-signature-256']);
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return undefined;
  const event = header(headers['x-github-event']);
  const guid = header(headers['x-github-delivery']);
  if (!/^[a-z0-9_]{1,64}$/.test(event)) throw badHeader('X-GitHub-Event', 'the name of an event');
  if (!/^[\w.:-]{1,128}$/.test(guid)) throw badHeader('X-GitHub-Delivery', 'the id of the delivery');
  return { event, guid, signature };
}

/**
 * Compares a signature with hashes of the raw bytes. Octokit's `verify` takes a string, so it rejects valid signatures
 * over bytes that are not UTF-8.
 */
function isOneOf(signature: string, hashes: Hmac[]): boolean {
  const given = Buffer.from(signature);
  return hashes.some((hash) => timingSafeEqual(Buffer.from(`sha256=${hash.digest('hex')}`), given));
}

/** Stores a signed delivery. Returns false when it was stored before. */
async function keep(app: App, claim: Claim, body: ArrivedBody): Promise<boolean> {
  const payload = body.join().toString('utf8');
  const parsed = await parsePayload(payload);
  if (parsed === undefined)
    throw badRequest([{ path: '', message: 'The body must be a JSON object with at most 100 levels' }]);
  const account = accountOf(parsed);
  const traceparent = currentSpan()?.traceparent;
  const delivery = { ...claim, payload, account, traceparent };
  const pull = claim.event === 'pull_request' ? pullOf(parsed) : undefined;
  return withinTime(store(app, delivery, pull), storeMs + body.size / storedBytesPerMs);
}

interface PullOfEvent {
  /** The id of its repository on GitHub. */
  githubId: number;
  number: number;
}

/** Returns which pull request an event is about, if it says so properly. */
function pullOf({ repository, number }: { repository?: { id?: unknown } | null; number?: unknown }) {
  const githubId = repository?.id;
  return Number.isSafeInteger(githubId) && Number.isInteger(number) && Number(number) < 2 ** 31
    ? ({ githubId, number } as PullOfEvent)
    : undefined;
}

/** Returns the id of the installation that a payload is for, as text. */
function accountOf(payload: { installation?: { id?: unknown } | null }): string | undefined {
  const id = payload.installation?.id;
  return typeof id === 'number' ? String(id) : undefined;
}

type NewDelivery = Parameters<typeof insertDelivery>[1];

function store(app: App, delivery: NewDelivery, pull: PullOfEvent | undefined): Promise<boolean> {
  return app.db.transaction(async (em) => {
    const isNew = await insertDelivery(em, delivery);
    const { guid, account } = delivery;
    if (!isNew) return false;
    await app.queue.send(em, 'delivery', { guid, account }, { key: guid });
    // GitHub may merge what was pushed just now, while this delivery waits behind others of the installation.
    const merging = pull === undefined ? [] : await listMergingAt(em, pull.githubId, pull.number);
    for (const { url, ...at } of merging) await app.queue.send(em, 'pull', at, { key: url });
    return true;
  });
}

async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const decided = new AbortController();
  const tooLate = sleep(ms, undefined, { signal: decided.signal }).then(() => {
    throw new AppError(503, 'The database is unavailable', {
      headers: { 'Retry-After': '5' },
    });
  });
  // After the time limit nobody awaits the work, so its failure must not become an unhandled rejection and end the
  // process.
  work.catch(() => {});
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    decided.abort();
    tooLate.catch(() => {});
  }
}

function header(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function badHeader(name: string, what: string): AppError {
  return badRequest([{ path: name, message: `${name} must be ${what}` }]);
}

/** Handles the `delivery` job: handles a stored delivery once. */
export async function handleDelivery(app: App, guid: string): Promise<void> {
  // Another process may have set up the App.
  await adoptStoredApp(app);
  const { github } = app;
  if (github === undefined) return;
  const delivery = await findUnhandledDelivery(app.db.manager, guid);
  if (delivery === undefined) return;
  const { event, traceparent: parent } = delivery;
  const attributes = { 'deckhand.delivery.event': event };
  await app.traces.begin(
    { name: `delivery ${event}`, kind: 'consumer', parent, ids: { deliveryId: guid }, attributes },
    async () => {
      const payload = await parsePayload(delivery.payload);
      await github.receive({ id: guid, name: event, payload });
      // The trial of an automation looks for what would have started it.
      const keepsPayload = readOccurrence({ guid, event, payload }) !== undefined;
      await markHandled(app.db.manager, guid, { keepsPayload });
      app.log.info({ event }, 'delivery handled');
    },
  );
}

/** Queues new jobs for stored deliveries whose jobs were lost. */
export async function requeueForgotten(app: App): Promise<void> {
  for (const { guid, account } of await listForgottenDeliveries(app.db.manager))
    await app.queue.send(undefined, 'delivery', { guid, account }, { key: guid });
}

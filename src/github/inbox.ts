import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import type { App } from '../app.ts';
import { AppError, badRequest } from '../errors.ts';
import { findUnhandledDelivery, insertDelivery, listForgottenDeliveries, markHandled } from './delivery-store.ts';
import { adoptStoredApp } from './stored-app.ts';

/** GitHub caps payloads at 25 MB (docs.github.com, "Webhook events and payloads"). */
const maxBody = '25mb';
/** GitHub gives up after 10 s; whoever waits for a database that is away should know long before. */
const storeMs = 1800;

/**
 * Receives webhooks: the signature is checked over the raw bytes, the delivery is stored and its job queued in one
 * transaction, and only then GitHub gets its 202. What is in it is looked at by a worker.
 */
export function webhookReceiver(app: App): RequestHandler[] {
  return [
    express.raw({ type: () => true, limit: maxBody }),
    async (req, res) => {
      const body: Buffer = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
      const event = header(req.headers['x-github-event']);
      const guid = header(req.headers['x-github-delivery']);
      const signature = header(req.headers['x-hub-signature-256']);
      const secrets = app.githubApp?.webhookSecrets;
      if (secrets === undefined) throw new AppError(404, 'No such address');
      if (!secrets.some((secret) => isSigned(body, signature, secret))) {
        app.metrics.deliveries.inc({ event: 'unknown', outcome: 'refused' });
        throw new AppError(401, 'The signature is missing or wrong (X-Hub-Signature-256)');
      }
      if (!/^[a-z0-9_]{1,64}$/.test(event)) throw badHeader('X-GitHub-Event', 'the name of an event');
      if (!/^[\w.:-]{1,128}$/.test(guid)) throw badHeader('X-GitHub-Delivery', 'the id of the delivery');
      const payload = body.toString('utf8');
      if (!isJsonObject(payload)) throw badRequest([{ path: '', message: 'The body must be a JSON object' }]);
      const isNew = await withinTime(store(app, { guid, event, signature, payload }));
      app.metrics.deliveries.inc({ event, outcome: isNew ? 'stored' : 'repeated' });
      res.status(202).json({ status: isNew ? 'accepted' : 'known' });
    },
  ];
}

function store(app: App, delivery: { guid: string; event: string; signature: string; payload: string }) {
  return app.db.transaction(async (em) => {
    const isNew = await insertDelivery(em, delivery);
    if (isNew) await app.queue.send(em, 'delivery', { guid: delivery.guid });
    return isNew;
  });
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  const enough = new AbortController();
  const late = sleep(storeMs, undefined, { signal: enough.signal }).then(() => {
    throw new AppError(503, 'The database is away', { headers: { 'Retry-After': '5' } });
  });
  // Whichever loses is not waited for.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    enough.abort();
    late.catch(() => {});
  }
}

function header(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function badHeader(name: string, what: string): AppError {
  return badRequest([{ path: name, message: `${name} must be ${what}` }]);
}

/** Octokit's `verify` takes a string and refuses right signatures over odd bytes, so this compares the bytes. */
export function isSigned(body: Buffer, signature: string, secret: string): boolean {
  const wanted = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Handles a stored delivery once; the handler of the `delivery` job. */
export async function handleDelivery(app: App, guid: string): Promise<void> {
  // Another process may have set the App up.
  await adoptStoredApp(app);
  if (app.github === undefined) return;
  const delivery = await findUnhandledDelivery(app.db.manager, guid);
  if (delivery === undefined) return;
  await app.github.receive({ id: guid, name: delivery.event, payload: JSON.parse(delivery.payload) });
  await markHandled(app.db.manager, guid);
}

export async function requeueForgotten(app: App): Promise<void> {
  for (const guid of await listForgottenDeliveries(app.db.manager))
    await app.queue.send(undefined, 'delivery', { guid });
}

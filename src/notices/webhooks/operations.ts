import { randomBytes } from 'node:crypto';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { type Changes, changesBetween } from '../../domain/audit.ts';
import { Refused } from '../../domain/machine.ts';
import { payloadOf, type WebhookEvent, type WebhookFormat } from '../../domain/notices/webhooks.ts';
import { badField, notFound } from '../../errors.ts';
import { serverUrlProblem } from '../../git/remote-url.ts';
import { hostRules } from '../../repositories/credentials.ts';
import { lockProjectRow } from '../../repositories/store.ts';
import { clearAdminNotice } from '../admin-notices.ts';
import {
  type DeliveryRow,
  deleteWebhookRow,
  findDelivery,
  findWebhook,
  giveUpWaiting,
  insertTestDelivery,
  insertWebhook,
  listKeyPlaces,
  listWebhookDeliveries,
  listWebhooks,
  lockKey,
  lockWebhook,
  placeOf,
  updateKey,
  updateWebhookRow,
  type WebhookRow,
  waitAgain,
} from './store.ts';

/** The most webhooks of a project. Each gets every event that it asks for. */
const maxWebhooks = 20;

interface Given {
  url: string;
  events: WebhookEvent[];
  format: WebhookFormat;
}

function assertAddress(app: App, url: string): void {
  const problem = serverUrlProblem(url, hostRules(app))?.replace(
    'https://example.com/mcp',
    'https://example.com/hooks',
  );
  if (problem !== undefined) throw badField('url', `url ${problem}`);
}

/** Creates a webhook. Its key is returned only here. @throws AppError 400 for its address; Refused when there are too many */
export async function createWebhook(
  app: App,
  projectId: string,
  given: Given,
): Promise<WebhookRow & { secret: string }> {
  assertAddress(app, given.url);
  return app.db.transaction(async (em) => {
    // Two simultaneous requests could together exceed the limit.
    await lockProjectRow(em, projectId);
    if ((await listWebhooks(em, projectId)).length >= maxWebhooks)
      throw new Refused(`The project has ${maxWebhooks} webhooks, which is the limit. Delete one first.`);
    const place = { id: newId('hook'), projectId };
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    await insertWebhook(em, { ...place, ...given, sealed: app.secrets.seal(secret, placeOf(place)) });
    app.audit.note({
      host: [null, new URL(given.url).host],
      events: [null, given.events],
      format: [null, given.format],
    });
    const row = await findWebhook(em, projectId, place.id);
    if (row === undefined) throw notFound('Webhook', place.id);
    return { ...row, secret };
  });
}

/** Changes a webhook. @throws AppError 400 for its address, 404 when it was deleted in the meantime */
export async function updateWebhook(
  app: App,
  { id, projectId }: WebhookRow,
  change: { [name in keyof Given | 'enabled']?: WebhookRow[name] | undefined },
): Promise<WebhookRow> {
  if (change.url !== undefined) assertAddress(app, change.url);
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return app.db.transaction(async (em) => {
    // The service may switch it off at the same moment.
    await lockWebhook(em, id);
    const before = await findWebhook(em, projectId, id);
    if (before === undefined) throw notFound('Webhook', id);
    const after: WebhookRow = { ...before, ...given };
    await updateWebhookRow(em, after);
    if (after.enabled) await clearAdminNotice(em, id);
    if (before.enabled && !after.enabled) await giveUpWaiting(em, id, 'The webhook was switched off.');
    app.audit.note(changesOf(before, after));
    return (await findWebhook(em, projectId, id)) ?? after;
  });
}

/** Returns what the audit log says. An address may contain a credential, so only its host is named. */
function changesOf(before: WebhookRow, after: WebhookRow): Changes {
  const shown = (row: WebhookRow) => ({ ...row, host: new URL(row.url).host });
  const isMoved = before.url !== after.url && shown(before).host === shown(after).host;
  return {
    ...changesBetween(shown(before), shown(after), ['host', 'events', 'format', 'enabled']),
    ...(isMoved ? { path: ['before', 'changed'] } : {}),
  };
}

export async function deleteWebhook(app: App, { id, url }: WebhookRow): Promise<void> {
  await app.db.transaction(async (em) => {
    await deleteWebhookRow(em, id);
    await clearAdminNotice(em, id);
  });
  app.audit.note({ host: [new URL(url).host, null] });
}

type Shown = Omit<DeliveryRow, 'data' | 'at'> & { payload: Record<string, unknown>; createdAt: Date };

function shownDelivery(app: App, { format }: WebhookRow, row: DeliveryRow) {
  const { at, notBefore, excerpt, status } = row;
  const payload = payloadOf(row, format, app.config.BASE_URL) as Shown['payload'];
  return { ...row, payload, createdAt: at, response: excerpt, nextAttemptAt: status === 'waiting' ? notBefore : null };
}

export async function showWebhookDeliveries(app: App, webhook: WebhookRow, page: { limit: number; offset: number }) {
  return (await listWebhookDeliveries(app.db.manager, webhook.id, page)).map((row) => shownDelivery(app, webhook, row));
}

function assertOn({ enabled }: WebhookRow): void {
  if (!enabled) throw new Refused('The webhook is switched off. Switch it on first.');
}

/** Sends a delivery again, with the same id. @throws AppError 404; Refused for a webhook that is switched off */
export async function redeliver(app: App, webhook: WebhookRow, deliveryId: string) {
  return app.db.transaction(async (em) => {
    const known = await findDelivery(em, webhook.id, deliveryId);
    if (known === undefined) throw notFound('Delivery', deliveryId.slice(0, 100));
    assertOn(webhook);
    await waitAgain(em, known.id);
    app.audit.note({ delivery: [null, known.id] });
    await wakeWebhook(app, webhook, em);
    return shownDelivery(app, webhook, (await findDelivery(em, webhook.id, deliveryId)) ?? known);
  });
}

/** Sends a delivery that says only that the webhook works. @throws Refused for a webhook that is switched off */
export async function testWebhook(app: App, webhook: WebhookRow, by: string) {
  assertOn(webhook);
  return app.db.transaction(async (em) => {
    const text = `${by} asked for this test.`;
    const row = await insertTestDelivery(em, webhook.id, { projectId: webhook.projectId, webhookId: webhook.id, text });
    app.audit.note({ delivery: [null, row.id] });
    await wakeWebhook(app, webhook, em);
    return shownDelivery(app, webhook, row);
  });
}

/** Queues the job that sends what a webhook is to get. */
export async function wakeWebhook(
  app: App,
  { id, projectId }: Pick<WebhookRow, 'id' | 'projectId'>,
  em?: Parameters<App['queue']['send']>[0],
): Promise<void> {
  await app.queue.send(em, 'webhook', { webhookId: id, projectId }, { key: id });
}

/** Encrypts the key of every webhook with the newest key, each in a separate transaction. Returns their number. */
export async function resealWebhookKeys(app: App): Promise<number> {
  let count = 0;
  for (const each of await listKeyPlaces(app.db.manager))
    await app.db.transaction(async (em) => {
      const row = await lockKey(em, each.id);
      // The webhook was deleted since the list was read.
      if (row === undefined) return;
      await updateKey(em, each.id, app.secrets.seal(app.secrets.open(row, placeOf(each)), placeOf(each)));
      count += 1;
    });
  return count;
}

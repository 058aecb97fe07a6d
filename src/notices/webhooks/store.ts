import type { EntityManager } from 'typeorm';
import type { Sealed, SecretPlace } from '../../db/sealed.ts';
import type { Happened, WebhookEvent, WebhookFormat } from '../../domain/notices/webhooks.ts';

export interface WebhookRow {
  id: string;
  projectId: string;
  url: string;
  events: WebhookEvent[];
  format: WebhookFormat;
  enabled: boolean;
  problem: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const columns = `w.id, w.project_id as "projectId", w.url, w.events, w.format, w.enabled, w.problem,
  w.created_at as "createdAt", w.updated_at as "updatedAt"`;

/** Returns the place that the key of a webhook is bound to. Its ciphertext cannot be decrypted in another row. */
export function placeOf({ id, projectId }: Pick<WebhookRow, 'id' | 'projectId'>): SecretPlace {
  return { table: 'webhooks', row: id, column: 'ciphertext', project: projectId };
}

/** Returns the webhooks of a project, oldest first. */
export async function listWebhooks(em: EntityManager, projectId: string): Promise<WebhookRow[]> {
  return em.query(`select ${columns} from webhooks w where w.project_id = $1 order by w.created_at, w.id`, [projectId]);
}

export async function findWebhook(em: EntityManager, projectId: string, id: string): Promise<WebhookRow | undefined> {
  const [row]: WebhookRow[] = await em.query(
    `select ${columns} from webhooks w where w.project_id = $1 and w.id = $2`,
    [projectId, id],
  );
  return row;
}

/** Locks a webhook until the end of the transaction. */
export async function lockWebhook(em: EntityManager, id: string): Promise<void> {
  await em.query('select 1 from webhooks where id = $1 for no key update', [id]);
}

export async function insertWebhook(
  em: EntityManager,
  {
    id,
    projectId,
    url,
    events,
    format,
    sealed,
  }: Pick<WebhookRow, 'id' | 'projectId' | 'url' | 'events' | 'format'> & { sealed: Sealed },
): Promise<void> {
  await em.query(
    `insert into webhooks (id, project_id, url, events, format, key_id, ciphertext) values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, projectId, url, JSON.stringify(events), format, sealed.keyId, sealed.ciphertext],
  );
}

/** Stores the settings of a webhook. One that is switched on forgets its problem and its pause. */
export async function updateWebhookRow(
  em: EntityManager,
  { id, url, events, format, enabled }: Pick<WebhookRow, 'id' | 'url' | 'events' | 'format' | 'enabled'>,
): Promise<void> {
  await em.query(
    `update webhooks set url = $2, events = $3, format = $4, enabled = $5, updated_at = now(), rest_until = null,
       problem = case when not $5 then problem end where id = $1`,
    [id, url, JSON.stringify(events), format, enabled],
  );
}

export async function deleteWebhookRow(em: EntityManager, id: string): Promise<void> {
  await em.query('delete from webhooks where id = $1', [id]);
}

/** Switches a webhook off and gives up what it was to get. Returns its project, or undefined if it was off. */
export async function switchOff(em: EntityManager, id: string, problem: string | null): Promise<string | undefined> {
  const [rows]: [{ projectId: string }[], number] = await em.query(
    `update webhooks set enabled = false, problem = $2, updated_at = now() where id = $1 and enabled
     returning project_id as "projectId"`,
    [id, problem],
  );
  return rows[0]?.projectId;
}

/** Gives up everything that a webhook was to get. */
export async function giveUpWaiting(em: EntityManager, webhookId: string, problem: string): Promise<void> {
  await em.query(
    `update webhook_deliveries set status = 'failed', leased_until = null, problem = coalesce(problem, $2)
     where webhook_id = $1 and status = 'waiting'`,
    [webhookId, problem],
  );
}

export interface DeliveryRow extends Happened {
  id: string;
  webhookId: string;
  status: 'waiting' | 'delivered' | 'failed';
  attempts: number;
  notBefore: Date;
  deliveredAt: Date | null;
  responseStatus: number | null;
  excerpt: string | null;
  problem: string | null;
}

const deliveryColumns = `d.id, d.webhook_id as "webhookId", d.event, d.at, d.data, d.status, d.attempts,
  d.not_before as "notBefore", d.delivered_at as "deliveredAt", d.response_status as "responseStatus", d.excerpt,
  d.problem`;

/** Returns up to `limit + 1` deliveries, newest first. The extra one only shows that there are more. */
export async function listWebhookDeliveries(
  em: EntityManager,
  webhookId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<DeliveryRow[]> {
  return em.query(
    `select ${deliveryColumns} from webhook_deliveries d where d.webhook_id = $1 order by d.number desc
     limit $2 + 1 offset $3`,
    [webhookId, limit, offset],
  );
}

export async function findDelivery(em: EntityManager, webhookId: string, id: string): Promise<DeliveryRow | undefined> {
  const [row]: DeliveryRow[] = await em.query(
    `select ${deliveryColumns} from webhook_deliveries d where d.webhook_id = $1 and d.id = $2`,
    [webhookId, id],
  );
  return row;
}

/** Stores a delivery that a person asked for. It waits for no other. Returns it. */
export async function insertTestDelivery(em: EntityManager, webhookId: string, data: object): Promise<DeliveryRow> {
  const [row]: [DeliveryRow] = await em.query(
    `insert into webhook_deliveries as d (webhook_id, event, lane, data) values ($1, 'test', gen_random_uuid()::text, $2)
     returning ${deliveryColumns}`,
    [webhookId, JSON.stringify(data)],
  );
  return row;
}

/**
 * Makes a delivery wait again, with all its attempts before it. One that was over gets a lane of its own, so that neither
 * later deliveries about its task wait for it nor it for them.
 */
export async function waitAgain(em: EntityManager, id: string): Promise<void> {
  await em.query(
    `update webhook_deliveries set not_before = now(), first_attempt_at = null, status = 'waiting',
       lane = case when status = 'waiting' then lane else id end
     where id = $1`,
    [id],
  );
}

/** SQL: whether a delivery `d` of a webhook `w` is to be sent now. */
const isDue = `w.enabled and coalesce(w.rest_until <= now(), true) and d.status = 'waiting' and d.not_before <= now()
  and coalesce(d.leased_until < now(), true)`;
/** SQL: whether it is the next one of its task. */
const isNext = `not exists (select from webhook_deliveries e where e.webhook_id = d.webhook_id and e.lane = d.lane
  and e.status = 'waiting' and e.number < d.number)`;

/** Returns the webhooks that have something to send now. */
export async function listDueWebhooks(em: EntityManager): Promise<{ id: string; projectId: string }[]> {
  return em.query(
    `select w.id, w.project_id as "projectId" from webhooks w
     where exists (select from webhook_deliveries d where d.webhook_id = w.id and ${isDue} and ${isNext})`,
  );
}

/** A delivery that this worker sends, and where to. */
export interface ClaimedDelivery extends Happened, Sealed {
  id: string;
  webhookId: string;
  projectId: string;
  url: string;
  format: WebhookFormat;
  /** Attempts, with this one. It identifies the claim. */
  attempts: number;
  /** How long ago the first attempt was, in seconds. */
  tryingSeconds: number;
}

/** Claims the next due delivery of a webhook for so many seconds. A worker that is killed loses the claim then. */
export async function claimDelivery(
  em: EntityManager,
  webhookId: string,
  leaseSeconds: number,
): Promise<ClaimedDelivery | undefined> {
  const [rows]: [ClaimedDelivery[], number] = await em.query(
    `update webhook_deliveries c set attempts = c.attempts + 1, leased_until = now() + make_interval(secs => $2),
       first_attempt_at = coalesce(c.first_attempt_at, now())
     from webhooks h
     where h.id = c.webhook_id and c.id = (
       select d.id from webhook_deliveries d join webhooks w on w.id = d.webhook_id
       where d.webhook_id = $1 and ${isDue} and ${isNext} order by d.number limit 1 for update of d skip locked)
     returning c.id, c.webhook_id as "webhookId", c.event, c.at, c.data, c.attempts,
       extract(epoch from now() - c.first_attempt_at)::float8 as "tryingSeconds" /* not null */,
       h.project_id as "projectId", h.url, h.format, h.key_id as "keyId", h.ciphertext`,
    [webhookId, leaseSeconds],
  );
  return rows[0];
}

/** What became of an attempt. */
export interface Outcome {
  status: 'waiting' | 'delivered' | 'failed';
  /** When it is tried again. */
  pauseSeconds: number;
  responseStatus: number | null;
  excerpt: string | null;
  problem: string | null;
}

/** Notes what became of an attempt, unless another worker has claimed the delivery since. Returns whether it did. */
export async function noteOutcome(
  em: EntityManager,
  { id, attempts }: Pick<ClaimedDelivery, 'id' | 'attempts'>,
  { status, pauseSeconds, responseStatus, excerpt, problem }: Outcome,
): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update webhook_deliveries set status = $3, not_before = now() + make_interval(secs => $4), leased_until = null,
       response_status = $5, excerpt = $6, problem = $7, delivered_at = case when $3 = 'delivered' then now() end
     where id = $1 and attempts = $2 and status = 'waiting'`,
    [id, attempts, status, pauseSeconds, responseStatus, excerpt, problem],
  );
  return count === 1;
}

/** Sends nothing to a webhook for so many seconds. */
export async function letRest(em: EntityManager, webhookId: string, seconds: number): Promise<void> {
  await em.query('update webhooks set rest_until = now() + make_interval(secs => $2) where id = $1', [
    webhookId,
    seconds,
  ]);
}

/** Deletes at most `most` deliveries older than so many days. Returns their number. */
export async function deleteOldWebhookDeliveries(em: EntityManager, days: number, most: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from webhook_deliveries where id in (
       select id from webhook_deliveries where at < now() - make_interval(days => $1) order by at limit $2)`,
    [days, most],
  );
  return count;
}

export async function listKeyPlaces(em: EntityManager): Promise<{ id: string; projectId: string }[]> {
  return em.query('select id, project_id as "projectId" from webhooks order by id');
}

/** Locks the key of a webhook until the end of the transaction. Returns undefined when the webhook was deleted. */
export async function lockKey(em: EntityManager, id: string): Promise<Sealed | undefined> {
  const [row]: Sealed[] = await em.query(
    'select key_id as "keyId", ciphertext from webhooks where id = $1 for no key update',
    [id],
  );
  return row;
}

export async function updateKey(em: EntityManager, id: string, { keyId, ciphertext }: Sealed): Promise<void> {
  await em.query('update webhooks set key_id = $2, ciphertext = $3 where id = $1', [id, keyId, ciphertext]);
}

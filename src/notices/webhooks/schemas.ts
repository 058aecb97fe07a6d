import { z } from 'zod';
import { webhookEvents, webhookFormats } from '../../domain/notices/webhooks.ts';
import { pageQuery, Timestamp } from '../../http/route.ts';

const url = z.string().max(2048, 'must have at most 2048 characters').meta({
  description: 'an https address without user name, password, query or fragment',
  example: 'https://example.com/hooks',
});
const events = z
  .array(z.enum(webhookEvents, `must be one of ${webhookEvents.join(', ')}`))
  .min(1, 'must name at least one event')
  .max(100, 'must have at most 100 entries')
  .transform((given) => webhookEvents.filter((event) => given.includes(event)));
const format = z.enum(webhookFormats, `must be ${webhookFormats.join(' or ')}`);

export const CreateWebhook = z.strictObject({ url, events, format: format.default('standard') });
export const UpdateWebhook = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  format: format.optional(),
  enabled: z
    .boolean()
    .optional()
    .meta({ description: 'true also switches a webhook on that the service has switched off' }),
});

const fields = {
  id: z.string(),
  projectId: z.string(),
  url: z.string(),
  events: z.array(z.enum(webhookEvents)),
  format,
  enabled: z.boolean(),
  problem: z.string().nullable().meta({ description: 'why the service switched it off; null unless it did' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const Webhook = z.object(fields).meta({ id: 'Webhook' });
export const CreatedWebhook = z
  .object({
    ...fields,
    secret: z.string().meta({ description: 'the key with which deliveries are signed; it is never shown again' }),
  })
  .meta({ id: 'CreatedWebhook' });

export const WebhookDelivery = z
  .object({
    id: z.string().meta({ description: 'the header `webhook-id`, the same in all attempts' }),
    webhookId: z.string(),
    event: z.enum([...webhookEvents, 'test']),
    status: z.enum(['waiting', 'delivered', 'failed']),
    createdAt: Timestamp,
    attempts: z.int(),
    nextAttemptAt: Timestamp.nullable().meta({ description: 'null unless it waits' }),
    deliveredAt: Timestamp.nullable(),
    responseStatus: z.int().nullable().meta({ description: 'what the receiver answered last' }),
    response: z.string().nullable().meta({ description: 'the beginning of that answer, at most 500 characters' }),
    problem: z.string().nullable().meta({ description: 'why the last attempt failed' }),
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'WebhookDelivery' });

export const DeliveryQuery = z.strictObject(pageQuery);

import { z } from 'zod';
import { notFound } from '../../errors.ts';
import { type Access, type InProject, idOrEmpty, inProject } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import {
  createWebhook,
  deleteWebhook,
  redeliver,
  showWebhookDeliveries,
  testWebhook,
  updateWebhook,
} from './operations.ts';
import { CreatedWebhook, CreateWebhook, DeliveryQuery, UpdateWebhook, Webhook, WebhookDelivery } from './schemas.ts';
import { findWebhook, listWebhooks, type WebhookRow } from './store.ts';

const path = '/projects/:projectId/webhooks';
const tag = 'webhooks';
const project = inProject('admin');

/** Adds the webhook in the path to what the handler receives, and the delivery's id, which need not exist. */
const onWebhook: Access<InProject & { webhook: WebhookRow; deliveryId: string }> = {
  ...project,
  load: async (app, asked) => {
    const entered = await project.load(app, asked);
    const { webhookId = '', deliveryId = '' } = asked.params;
    const webhook = await findWebhook(app.db.manager, entered.projectId, idOrEmpty(webhookId));
    if (webhook === undefined) throw notFound('Webhook', webhookId.slice(0, 100));
    return { ...entered, webhook, deliveryId: idOrEmpty(deliveryId) };
  },
};

const isOff = { 409: 'The webhook is switched off' };

export const webhookRoutes: Route[] = [
  route({
    operationId: 'listWebhooks',
    method: 'get',
    path,
    summary: 'List the webhooks of a project, oldest first',
    tag,
    access: project,
    reply: [200, z.array(Webhook)],
    handle: (app, { projectId }) => listWebhooks(app.db.manager, projectId),
  }),
  route({
    operationId: 'createWebhook',
    method: 'post',
    path,
    summary: 'Create a webhook. Only this reply shows its secret',
    tag,
    access: project,
    audit: { action: 'webhook.create', made: ({ id }, { projectId }) => ({ id, projectId }) },
    body: CreateWebhook,
    reply: [201, CreatedWebhook],
    errors: { 409: 'The project has 20 webhooks, which is the limit' },
    isSecret: true,
    handle: (app, { projectId, body }) => createWebhook(app, projectId, body),
  }),
  route({
    operationId: 'updateWebhook',
    method: 'patch',
    path: `${path}/:webhookId`,
    summary: 'Change a webhook, or switch it off and on',
    tag,
    access: onWebhook,
    audit: { action: 'webhook.update', object: ({ webhook }) => webhook },
    body: UpdateWebhook,
    reply: [200, Webhook],
    handle: (app, { webhook, body }) => updateWebhook(app, webhook, body),
  }),
  route({
    operationId: 'deleteWebhook',
    method: 'delete',
    path: `${path}/:webhookId`,
    summary: 'Delete a webhook with its deliveries',
    tag,
    access: onWebhook,
    audit: { action: 'webhook.delete', object: ({ webhook }) => webhook },
    reply: [204],
    handle: (app, { webhook }) => deleteWebhook(app, webhook),
  }),
  route({
    operationId: 'listWebhookDeliveries',
    method: 'get',
    path: `${path}/:webhookId/deliveries`,
    summary: 'List the deliveries of a webhook, newest first',
    tag,
    access: onWebhook,
    query: DeliveryQuery,
    reply: [200, z.array(WebhookDelivery)],
    paged: true,
    handle: (app, { webhook, query }) => showWebhookDeliveries(app, webhook, query),
  }),
  route({
    operationId: 'redeliverWebhook',
    method: 'post',
    path: `${path}/:webhookId/deliveries/:deliveryId/redeliver`,
    summary: 'Send a delivery again, with the same id',
    tag,
    access: onWebhook,
    audit: { action: 'webhook.redeliver', object: ({ webhook }) => webhook },
    reply: [202, WebhookDelivery],
    errors: isOff,
    handle: (app, { webhook, deliveryId }) => redeliver(app, webhook, deliveryId),
  }),
  route({
    operationId: 'testWebhook',
    method: 'post',
    path: `${path}/:webhookId/test`,
    summary: 'Send a delivery of the type `test`',
    tag,
    access: onWebhook,
    audit: { action: 'webhook.test', object: ({ webhook }) => webhook },
    reply: [202, WebhookDelivery],
    errors: isOff,
    handle: (app, { webhook, user }) => testWebhook(app, webhook, user.login),
  }),
];

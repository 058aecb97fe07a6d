import { z } from 'zod';
import { vias } from '../domain/audit.ts';
import { inProject } from '../http/access/access.ts';
import { longText, pageQuery, type Route, route, Timestamp } from '../http/route.ts';
import { listAuditRecords, readAuditRecords } from './records.ts';

const Value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const AuditRecord = z
  .object({
    id: z.string(),
    at: Timestamp,
    actor: z
      .object({ id: z.string(), login: z.string() })
      .nullable()
      .meta({ description: 'null when the system did it' }),
    via: z.enum(vias),
    action: z.string().meta({ example: 'task.start' }),
    object: z.object({ type: z.string().meta({ example: 'task' }), id: z.string() }),
    detail: z.record(z.string(), z.array(Value).length(2)).meta({
      description: 'the changed fields, each with its values before and after; texts are cut at 200 characters',
      example: { status: ['ready', 'in_progress'] },
    }),
  })
  .meta({ id: 'AuditRecord' });

const word = longText(255).min(1).optional();
/** PostgreSQL takes fewer zones than ISO 8601, and no year 0. */
const notATime = 'must be a time such as 2026-01-15T09:30:00Z';
const time = (description: string) =>
  z.iso
    .datetime({ offset: true, error: notATime })
    .transform((text) => new Date(text).toISOString())
    .refine((text) => text >= '0001', notATime)
    .optional()
    .meta({ override: { type: 'string', format: 'date-time' }, description });

const AuditQuery = z.strictObject({
  ...pageQuery,
  actor: word.meta({ description: 'the id of the person who did it, or `system`' }),
  action: word.meta({ description: 'an action, such as `task.start`, or its object, such as `task`' }),
  object: word.meta({ description: 'the id of what it happened to' }),
  since: time('the earliest time'),
  until: time('the time before which it happened'),
  format: z
    .enum(['json', 'ndjson'])
    .default('json')
    .meta({ description: '`ndjson` has the same effect as `Accept: application/x-ndjson`, for links' }),
});

export const auditRoutes: Route[] = [
  route({
    operationId: 'listAuditRecords',
    method: 'get',
    path: '/projects/:projectId/audit',
    summary:
      'List the changes of a project and who made them, newest first; all, or those of a person, action, object or time',
    tag: 'projects',
    access: inProject('admin'),
    query: AuditQuery,
    reply: [200, z.array(AuditRecord)],
    paged: true,
    exports: (app, { projectId, query }) => readAuditRecords(app.db.manager, projectId, query),
    handle: (app, { projectId, query }) => listAuditRecords(app.db.manager, projectId, query),
  }),
];

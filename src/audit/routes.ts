import { z } from 'zod';
import { vias } from '../domain/audit.ts';
import { inProject } from '../http/access/access.ts';
import { pageQuery, type Route, route, Timestamp } from '../http/route.ts';
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

const AuditQuery = z.strictObject({
  ...pageQuery,
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
    summary: 'List the changes of a project and who made them, newest first',
    tag: 'projects',
    access: inProject('admin'),
    query: AuditQuery,
    reply: [200, z.array(AuditRecord)],
    paged: true,
    exports: (app, { projectId }) => readAuditRecords(app.db.manager, projectId),
    handle: (app, { projectId, query }) => listAuditRecords(app.db.manager, projectId, query),
  }),
];

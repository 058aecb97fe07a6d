import { z } from 'zod';
import { inProject } from '../http/access/access.ts';
import { type Route, route } from '../http/route.ts';
import { AuditQuery, AuditRecord } from './schemas.ts';
import { listAuditRecords, readAuditRecords } from './store.ts';

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

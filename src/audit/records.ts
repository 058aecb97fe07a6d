import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { newId } from '../db/ids.ts';
import type { AuditRecordRow } from '../db/tables/audit.ts';
import { type AuditAction, vias } from '../domain/audit.ts';
import { storableJson } from '../domain/text/sanitize.ts';
import { inProject } from '../http/access/access.ts';
import { pageQuery, type Route, route, Timestamp } from '../http/route.ts';

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

type NewRecord = Pick<
  AuditRecordRow,
  'projectId' | 'actorId' | 'via' | 'action' | 'objectType' | 'objectId' | 'detail'
>;

export async function insertAuditRecord(em: EntityManager, record: NewRecord): Promise<void> {
  const { projectId, actorId, via, action, objectType, objectId, detail } = record;
  await em.query(
    `insert into audit_records (id, project_id, actor_id, actor_login, via, action, object_type, object_id, detail)
     values ($1, $2, $3, (select login from users where id = $3), $4, $5, $6, $7, $8)`,
    [newId('audit'), projectId, actorId, via, action, objectType, objectId, storableJson(detail)],
  );
}

/** Returns whether there is a record of this action on a task. */
export async function wasNoted(em: EntityManager, taskId: string, action: AuditAction): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from audit_records where object_type = 'task' and object_id = $1 and action = $2 limit 1`,
    [taskId, action],
  );
  return rows.length > 0;
}

/** A record as the API returns it. */
export interface AuditRecordView extends Pick<AuditRecordRow, 'id' | 'number' | 'at' | 'via' | 'action' | 'detail'> {
  actor: { id: string; login: string } | null;
  object: { type: string; id: string };
}

const columns = `id, number::float8 as number, at, via, action, detail,
  case when actor_id is not null then json_build_object('id', actor_id, 'login', coalesce(actor_login, '')) end as actor,
  json_build_object('type', object_type, 'id', object_id) as object`;

/**
 * SQL: the condition for the records of project $1 before number $2, and their order, newest first. Comparing both columns
 * at once is equal to `project_id = $1 and number < $2`. For those PostgreSQL would read the records of all projects in
 * their order if it expects to find enough of this one soon, although it may have had none for years.
 */
const ofProject = `(a.project_id, a.number) >= ($1, 0) and (a.project_id, a.number) < ($1, $2) order by a.project_id desc, a.number desc`;

/** Returns up to `limit + 1` records. The extra one only shows that there are more. */
export async function listAuditRecords(
  em: EntityManager,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<AuditRecordView[]> {
  return em.query(`select ${columns} from audit_records a where ${ofProject} limit $3 + 1 offset $4`, [
    projectId,
    Number.MAX_SAFE_INTEGER,
    limit,
    offset,
  ]);
}

/** Records that are read with one statement. */
const portion = 500;

/** Reads the records of a project in portions, newest first. Does not return records that are added in the meantime. */
export async function* readAuditRecords(em: EntityManager, projectId: string): AsyncGenerator<AuditRecordView[]> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const records: AuditRecordView[] = await em.query(
      `select ${columns} from audit_records a where ${ofProject} limit $3`,
      [projectId, before, portion],
    );
    if (records.length > 0) yield records;
    if (records.length < portion) return;
    before = records.at(-1)?.number ?? 0;
  }
}

/** Deletes the oldest records that are older than this many days, at most `most`. Returns their number. */
export async function deleteOldAuditRecords(em: EntityManager, days: number, most: number): Promise<number> {
  const [row]: [{ deleted: number }] = await em.query(
    'select delete_old_audit_records($1, $2) as deleted /* not null */',
    [days, most],
  );
  return row.deleted;
}

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

import type { EntityManager } from 'typeorm';
import { newId } from '../db/ids.ts';
import type { AuditRecordRow } from '../db/tables/audit.ts';
import type { AuditAction } from '../domain/audit.ts';
import { storableJson } from '../domain/text/sanitize.ts';

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

/** Which records to read; undefined for all. */
export interface AuditFilter {
  /** The id of a user, or `system`. */
  actor?: string | undefined;
  /** An action, such as `task.start`, or the type that actions begin with, such as `task`. */
  action?: string | undefined;
  /** The id of the object. */
  object?: string | undefined;
  /** From this time on, and before that one: ISO 8601. */
  since?: string | undefined;
  until?: string | undefined;
}

/** SQL: as `ofProject`, for the records of the object $6, of which there are few in a project of millions. */
const ofObject = `a.project_id = $1 and (a.object_id, a.number) >= ($6, 0) and (a.object_id, a.number) < ($6, $2) order by a.object_id desc, a.number desc`;

const placeOf = ({ object }: AuditFilter) => (object === undefined ? ofProject : ofObject);

/** SQL: the conditions of a filter, whose values are $4 to $8. */
const chosen = `($4::text is null or coalesce(a.actor_id, 'system') = $4)
  and ($5::text is null or a.action = $5 or split_part(a.action, '.', 1) = $5)
  and ($6::text is null or a.object_id = $6)
  and ($7::timestamptz is null or a.at >= $7) and ($8::timestamptz is null or a.at < $8)`;

const valuesOf = ({ actor, action, object, since, until }: AuditFilter) =>
  [actor, action, object, since, until].map((value) => value ?? null);

/** Returns up to `limit + 1` records. The extra one only shows that there are more. */
export async function listAuditRecords(
  em: EntityManager,
  projectId: string,
  { limit, offset, ...filter }: { limit: number; offset: number } & AuditFilter,
): Promise<AuditRecordView[]> {
  return em.query(
    `select ${columns} from audit_records a where ${chosen} and ${placeOf(filter)} limit $3 + 1 offset $9`,
    [...[projectId, Number.MAX_SAFE_INTEGER, limit], ...valuesOf(filter), offset],
  );
}

/** Records that are read with one statement. One may have hundreds of kilobytes of what a person wrote. */
const portion = 50;

/** Reads the records of a project in portions, newest first. Does not return records that are added in the meantime. */
export async function* readAuditRecords(
  em: EntityManager,
  projectId: string,
  filter: AuditFilter = {},
): AsyncGenerator<AuditRecordView[]> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const records: AuditRecordView[] = await em.query(
      `select ${columns} from audit_records a where ${chosen} and ${placeOf(filter)} limit $3`,
      [projectId, before, portion, ...valuesOf(filter)],
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

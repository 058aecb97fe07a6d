import type { EntityManager } from 'typeorm';
import type { AdminNoticeReason } from '../domain/notices/reasons.ts';

interface AdminNotice {
  projectId: string;
  reason: AdminNoticeReason;
  /** What it is about. There is one notice for each object. */
  objectId: string;
  title: string;
  text: string;
}

/** Puts a notice into the inbox of everybody who administers a project, instead of an earlier one about the object. */
export async function noticeToAdmins(
  em: EntityManager,
  { projectId, reason, objectId, title, text }: AdminNotice,
): Promise<void> {
  await em.query(
    `insert into admin_notices (project_id, reason, object_id, title, text) values ($1, $2, $3, $4, $5)
     on conflict (object_id) do update set title = excluded.title, text = excluded.text, since = now()`,
    [projectId, reason, objectId, title, text],
  );
}

/** Removes the notice about an object, if there is one. */
export async function clearAdminNotice(em: EntityManager, objectId: string): Promise<void> {
  await em.query('delete from admin_notices where object_id = $1', [objectId]);
}

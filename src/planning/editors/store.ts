import type { EntityManager } from 'typeorm';
import type { PlanPart } from '../../domain/wizard.ts';

/** A person who is editing a part of a plan. */
export interface Editor {
  sessionId: string;
  userId: string;
  part: PlanPart;
}

/** SQL: an editor whose process has not confirmed it for this long is gone. */
const isStale = `seen_at < now() - interval '1 minute'`;

/** Notes that a person edits a part now. Removes editors of the plan who are gone. */
export async function upsertEditor(em: EntityManager, { sessionId, userId, part }: Editor): Promise<void> {
  await em.query(`delete from plan_editors where session_id = $1 and ${isStale}`, [sessionId]);
  // The plan may have been deleted.
  await em.query(
    `insert into plan_editors (session_id, user_id, part) select id, $2, $3 from wizard_sessions where id = $1
     on conflict (session_id, user_id, part) do update set seen_at = now()`,
    [sessionId, userId, part],
  );
}

export async function deleteEditor(em: EntityManager, { sessionId, userId, part }: Editor): Promise<void> {
  await em.query('delete from plan_editors where session_id = $1 and user_id = $2 and part = $3', [
    sessionId,
    userId,
    part,
  ]);
}

/** Returns who is editing which part of a plan. */
export async function listEditors(
  em: EntityManager,
  sessionId: string,
): Promise<{ part: PlanPart; user: { id: string; login: string } }[]> {
  return em.query(
    `select e.part, json_build_object('id', u.id, 'login', u.login) as user
     from plan_editors e join users u on u.id = e.user_id
     where e.session_id = $1 and not ${isStale} order by u.login, e.part`,
    [sessionId],
  );
}

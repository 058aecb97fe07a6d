import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { AppError } from '../errors.ts';

/** How long a membership on GitHub that was seen at a sign-in counts: as long as the session (http/access/session.ts). */
const hoursAdmitted = 12;
/** How long people whom a person added to a project may create projects after that person's last admission has ended. */
const daysVouched = 30;

/**
 * Lets somebody use the service without being a member of a project: `account` for a member of an account that has installed
 * the App, `operator` for whom the operator made a token.
 */
export async function admit(em: EntityManager, userId: string, by: 'account' | 'operator'): Promise<void> {
  await em.query(
    `update users set admitted_until = greatest(admitted_until,
       case when $2 = 'operator' then 'infinity' else now() + make_interval(hours => $3) end)
     where id = $1`,
    [userId, by, hoursAdmitted],
  );
}

/** Ends the admission of somebody who is no longer a member of an account. The operator's admission stays. */
export async function endAdmission(em: EntityManager, userId: string): Promise<void> {
  await em.query(`update users set admitted_until = null where id = $1 and admitted_until < 'infinity'`, [userId]);
}

/** Returns whether a person may use the service: as a member of a project, or because of an admission. */
export async function isAdmitted(em: EntityManager, userId: string): Promise<boolean> {
  const [row]: { isAdmitted: boolean }[] = await em.query(
    `select coalesce(u.admitted_until > now(), false) or exists (select 1 from members m where m.user_id = u.id) as "isAdmitted"
     from users u where u.id = $1`,
    [userId],
  );
  return row?.isAdmitted === true;
}

/**
 * Records that GitHub is being asked about a person. Returns false if it was asked less than a minute ago: each sign-in of a
 * stranger would otherwise use up some of the requests that GitHub allows each account.
 */
export async function noteAsked(em: EntityManager, userId: string): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
    `update users set asked_at = now() where id = $1 and (asked_at is null or asked_at < now() - interval '1 minute')`,
    [userId],
  );
  return count === 1;
}

/** Lets GitHub be asked again at once, because it did not answer. */
export async function forgetAsked(em: EntityManager, userId: string): Promise<void> {
  await em.query('update users set asked_at = null where id = $1', [userId]);
}

/**
 * Checks that a person may create a project: with an admission, or as a member of a project that an account installed or
 * that somebody else created who has an admission. Membership of one's own projects is not enough, so that people who have
 * left their account cannot create more of them, nor can others whom they add. Nor is a project that one only views: its people
 * wanted to show it, not to let somebody use the service.
 * @throws AppError 403
 */
export async function assertMayCreateProjects({ config }: App, em: EntityManager, userId: string): Promise<void> {
  if (config.SIGN_IN === 'anyone') return;
  const rows: unknown[] = await em.query(
    `select 1 from users u where u.id = $1 and (u.admitted_until > now() or exists (
       select 1 from members m join projects p on p.id = m.project_id
         left join users c on c.id = p.created_by and c.id <> u.id
         left join installations i on i.project_id = p.id and i.status = 'active'
       where m.user_id = u.id and m.role <> 'viewer'
         and (i.project_id is not null or c.admitted_until > now() - make_interval(days => $2))))`,
    [userId, daysVouched],
  );
  if (rows.length > 0) return;
  throw new AppError(
    403,
    'Only members of an account that has installed the GitHub App, and people whom they made members of a project, may create projects. If you are one of them, sign in again; otherwise ask whoever runs this service.',
  );
}

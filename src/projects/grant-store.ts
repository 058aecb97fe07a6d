import type { EntityManager } from 'typeorm';

/**
 * Makes a user an owner because they administer the account on GitHub. Their previous role is stored and applies again
 * when that ends.
 */
export async function grantOwnership(em: EntityManager, projectId: string, userId: string): Promise<void> {
  await em.query(
    `insert into members as m (project_id, user_id, role, is_granted) values ($1, $2, 'owner', true)
     on conflict (project_id, user_id) do update set is_granted = true, given_role = m.role, role = 'owner'
       where not m.is_granted`,
    [projectId, userId],
  );
}

/** Revokes ownership granted by GitHub from all users except `butOf`. A role that a person gave them applies again. */
export async function takeBackGrants(em: EntityManager, projectId: string, butOf: string[]): Promise<void> {
  const taken = 'project_id = $1 and is_granted and not (user_id = any($2))';
  await em.query(`delete from members where ${taken} and given_role is null`, [projectId, butOf]);
  await em.query(`update members set is_granted = false, role = given_role, given_role = null where ${taken}`, [
    projectId,
    butOf,
  ]);
}

export async function isGranted(em: EntityManager, projectId: string, userId: string): Promise<boolean> {
  const rows = await em.query('select 1 from members where project_id = $1 and user_id = $2 and is_granted', [
    projectId,
    userId,
  ]);
  return rows.length > 0;
}

/**
 * Lets an owner whom GitHub granted the role stay an owner even after they stop administering the account. Returns
 * false when that was decided before.
 */
export async function keepOwner(em: EntityManager, projectId: string, userId: string): Promise<boolean> {
  const [, count] = await em.query(
    `update members set given_role = 'owner'
     where project_id = $1 and user_id = $2 and is_granted and given_role is distinct from 'owner'`,
    [projectId, userId],
  );
  return count === 1;
}

/**
 * Records that an owner whom GitHub granted the role has left, so that the next comparison with GitHub does not add
 * them again.
 */
export async function insertDeparture(em: EntityManager, projectId: string, userId: string): Promise<void> {
  await em.query('insert into departures (project_id, user_id) values ($1, $2) on conflict do nothing', [
    projectId,
    userId,
  ]);
}

export async function deleteDeparture(em: EntityManager, projectId: string, userId: string): Promise<void> {
  await em.query('delete from departures where project_id = $1 and user_id = $2', [projectId, userId]);
}

export async function listDepartures(em: EntityManager, projectId: string): Promise<Set<string>> {
  const rows: { id: string }[] = await em.query('select user_id as id from departures where project_id = $1', [
    projectId,
  ]);
  return new Set(rows.map((row) => row.id));
}

import type { EntityManager } from 'typeorm';
import { Members } from '../db/tables/project.ts';
import type { Role } from '../domain/agent.ts';

export interface MemberView {
  userId: string;
  login: string;
  name: string;
  avatarUrl: string;
  role: Role;
  /** Whether the member is an owner because they administer the account on GitHub. */
  isGranted: boolean;
  createdAt: Date;
}

export async function insertMember(
  em: EntityManager,
  member: { projectId: string; userId: string; role: Role; addedBy: string | null },
): Promise<void> {
  await em.insert(Members, member);
  await tellOfMember(em, member.projectId, member.userId, member.role);
}

/** The topic of changes of the members of a project. */
export const memberTopic = (projectId: string) => `members ${projectId}`;

/**
 * Tells open pages of the project that a member has another role, or none, once the transaction commits. The change is not stored
 * for clients that reconnect: they load everything again.
 */
async function tellOfMember(
  em: EntityManager,
  projectId: string,
  userId: string,
  status: Role | 'removed',
): Promise<void> {
  const change = JSON.stringify({ id: userId, status, at: new Date().toISOString() });
  await em.query(`select pg_notify('changes', $1)`, [`${memberTopic(projectId)}\n${change}`]);
}

export async function listMembers(em: EntityManager, projectId: string): Promise<MemberView[]> {
  return em.query(
    `select u.id as "userId", u.login, u.name, u.avatar_url as "avatarUrl", m.role, m.is_granted as "isGranted",
       m.created_at as "createdAt"
     from members m join users u on u.id = m.user_id
     where m.project_id = $1
     order by m.created_at, u.id`,
    [projectId],
  );
}

export async function findMember(
  em: EntityManager,
  projectId: string,
  userId: string,
): Promise<MemberView | undefined> {
  return (await listMembers(em, projectId)).find((m) => m.userId === userId);
}

/**
 * Locks the owners' rows and returns the owners' ids. Without the lock, two owners who leave at the same time could
 * leave a project without an owner.
 */
export async function lockOwners(em: EntityManager, projectId: string): Promise<string[]> {
  const rows: { userId: string }[] = await em.query(
    `select user_id as "userId" from members where project_id = $1 and role = 'owner' order by user_id for update`,
    [projectId],
  );
  return rows.map((r) => r.userId);
}

/** Keeps a member who may change something from leaving until the transaction ends. Returns false when there is no such member. */
export async function lockMember(em: EntityManager, projectId: string, userId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select 1 from members where project_id = $1 and user_id = $2 and role <> 'viewer' for share`,
    [projectId, userId],
  );
  return rows.length > 0;
}

export async function roleIn(em: EntityManager, projectId: string, userId: string): Promise<Role | undefined> {
  return (await em.findOneBy(Members, { projectId, userId }))?.role;
}

export async function setRole(em: EntityManager, projectId: string, userId: string, role: Role): Promise<void> {
  await em.update(Members, { projectId, userId }, { role });
  await tellOfMember(em, projectId, userId, role);
}

export async function deleteMember(em: EntityManager, projectId: string, userId: string): Promise<void> {
  await em.delete(Members, { projectId, userId });
  await tellOfMember(em, projectId, userId, 'removed');
}

/**
 * Makes a user an owner because they administer the account on GitHub. Their previous role is stored and applies again
 * when that ends.
 */
export async function grantOwnership(em: EntityManager, projectId: string, userId: string): Promise<void> {
  const changed: unknown[] = await em.query(
    `insert into members as m (project_id, user_id, role, is_granted) values ($1, $2, 'owner', true)
     on conflict (project_id, user_id) do update set is_granted = true, given_role = m.role, role = 'owner'
       where not m.is_granted
     returning user_id`,
    [projectId, userId],
  );
  if (changed.length > 0) await tellOfMember(em, projectId, userId, 'owner');
}

/** Revokes ownership granted by GitHub from all users except `butOf`. A role that a person gave them applies again. */
export async function takeBackGrants(em: EntityManager, projectId: string, butOf: string[]): Promise<void> {
  const taken = 'project_id = $1 and is_granted and not (user_id = any($2))';
  const [removed]: [{ id: string }[], number] = await em.query(
    `delete from members where ${taken} and given_role is null returning user_id as id`,
    [projectId, butOf],
  );
  const [changed]: [{ id: string; role: Role }[], number] = await em.query(
    `update members set is_granted = false, role = given_role, given_role = null where ${taken}
     returning user_id as id, role`,
    [projectId, butOf],
  );
  for (const { id } of removed) await tellOfMember(em, projectId, id, 'removed');
  for (const { id, role } of changed) await tellOfMember(em, projectId, id, role);
}

export async function isGranted(em: EntityManager, projectId: string, userId: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    'select 1 from members where project_id = $1 and user_id = $2 and is_granted',
    [projectId, userId],
  );
  return rows.length > 0;
}

/**
 * Lets an owner whom GitHub granted the role stay an owner even after they stop administering the account. Returns
 * false when that was decided before.
 */
export async function keepOwner(em: EntityManager, projectId: string, userId: string): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query(
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

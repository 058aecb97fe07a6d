import type { EntityManager } from 'typeorm';
import { Members } from '../db/tables/project.ts';
import type { Role } from '../domain/member.ts';

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

export async function roleIn(em: EntityManager, projectId: string, userId: string): Promise<Role | undefined> {
  return (await em.findOneBy(Members, { projectId, userId }))?.role;
}

export async function setRole(em: EntityManager, projectId: string, userId: string, role: Role): Promise<void> {
  await em.update(Members, { projectId, userId }, { role });
}

export async function deleteMember(em: EntityManager, projectId: string, userId: string): Promise<void> {
  await em.delete(Members, { projectId, userId });
}

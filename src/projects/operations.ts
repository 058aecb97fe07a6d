import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { Agents, Members, type ProjectRow, Projects } from '../db/tables.ts';
import { shippedAgents, shippedTeam } from '../domain/agent.ts';
import { Refused } from '../domain/machine.ts';
import { hasRole, type Role } from '../domain/member.ts';
import { slug } from '../domain/text/slug.ts';
import { badField, notFound, requiresRole } from '../errors.ts';
import { deleteDeparture, insertDeparture, keepOwner } from './grant-store.ts';
import type { CreateProject, UpdateProject } from './schemas.ts';
import {
  findMember,
  findProject,
  findUserByLogin,
  type GitHubUser,
  getProject,
  hasLiveRuns,
  insertUser,
  lockOwners,
  type MemberView,
  type ProjectView,
  upsertUser,
  viewProject,
} from './store.ts';

/** Makes a project with its shipped agents; its creator is its owner. */
export async function createProject(app: App, userId: string, input: z.output<typeof CreateProject>) {
  return app.db.transaction(async (em) => {
    const project = await insertProject(em, input);
    await em.insert(Members, { projectId: project.id, userId, role: 'owner' });
    return viewProject(project, { role: 'owner', addedBy: null });
  });
}

/** A project and its agents, without members; those of an installation's project come from GitHub. */
export async function insertProject(
  em: EntityManager,
  input: { name: string; description: string },
): Promise<ProjectRow> {
  const id = newId('proj');
  await em.insert(Projects, { id, slug: `${slug(input.name) || 'project'}-${id.slice(-6)}`, ...input });
  const agents = shippedAgents.map((a) => ({ ...a, id: newId('agent'), projectId: id, team: shippedTeam }));
  await em.insert(Agents, agents);
  return findProject(em, id);
}

export async function updateProject(
  app: App,
  projectId: string,
  userId: string,
  input: z.output<typeof UpdateProject>,
): Promise<ProjectView> {
  return app.db.transaction(async (em) => {
    const before = await em.findOneOrFail(Projects, { where: { id: projectId }, lock: { mode: 'pessimistic_write' } });
    const { budgets, ...fields } = input;
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    if (Object.keys(input).length > 0)
      await em.update(
        Projects,
        { id: projectId },
        {
          ...given,
          ...(budgets ? { budgets: { ...before.budgets, ...budgets } as never } : {}),
          updatedAt: new Date(),
        },
      );
    return getProject(em, projectId, userId);
  });
}

export async function deleteProject(app: App, projectId: string): Promise<void> {
  await app.db.transaction(async (em) => {
    await em.query('select 1 from projects where id = $1 for update', [projectId]);
    if (await hasLiveRuns(em, projectId))
      throw new Refused('delete requires a project without queued or running runs, found some; cancel them first');
    // Its installation is ignored until the App is installed anew (decisions, section 9).
    await em.query(`update installations set status = 'ignored', project_id = null where project_id = $1`, [projectId]);
    await em.delete(Projects, { id: projectId });
  });
}

/** Adds somebody by login. With GitHub on, the login must exist there. */
export async function addMember(
  app: App,
  projectId: string,
  caller: { id: string; role: Role },
  input: { login: string; role: Role },
): Promise<MemberView> {
  if (input.role === 'owner' && !hasRole(caller.role, 'owner')) throw requiresRole('owner');
  const account = await resolveLogin(app, input.login);
  return app.db.transaction(async (em) => {
    const known = account === undefined ? await findUserByLogin(em, input.login) : await upsertUser(em, account);
    const user = known ?? (await insertUser(em, input.login));
    try {
      await em.insert(Members, { projectId, userId: user.id, role: input.role, addedBy: caller.id });
      await deleteDeparture(em, projectId, user.id);
    } catch (error) {
      if (violatedUnique(error) === undefined) throw error;
      throw new Refused(`${user.login} is already a member of the project`);
    }
    return (await findMember(em, projectId, user.id)) as MemberView;
  });
}

/** The GitHub account of a login; undefined with GitHub off. @throws AppError 400 when GitHub knows none */
export async function resolveLogin(app: App, login: string): Promise<GitHubUser | undefined> {
  if (app.github === undefined) return undefined;
  const account = await app.github.findUser(login);
  if (account === undefined) throw badField('login', `login: ${login} is not known to GitHub`);
  return account;
}

export async function changeRole(app: App, projectId: string, caller: Role, userId: string, role: Role | undefined) {
  return app.db.transaction(async (em) => {
    const owners = await lockOwners(em, projectId);
    const member = await findMember(em, projectId, userId);
    if (member === undefined) throw notFound('Member', userId);
    const mayChangeOwners = hasRole(caller, 'owner');
    if (role === 'owner' && member.isGranted && mayChangeOwners) await keepOwner(em, projectId, userId);
    if (role === undefined || role === member.role) return member;
    if ((role === 'owner' || member.role === 'owner') && !mayChangeOwners) throw requiresRole('owner');
    keepsAnOwner(owners, userId);
    if (member.isGranted) throw grantedByGitHub(member);
    await em.update(Members, { projectId, userId }, { role });
    return { ...member, role };
  });
}

/** Admins remove members, owners remove owners, and everyone may leave. */
export async function removeMember(app: App, projectId: string, caller: { id: string; role: Role }, userId: string) {
  const isSelf = caller.id === userId;
  await app.db.transaction(async (em) => {
    const owners = await lockOwners(em, projectId);
    const member = await findMember(em, projectId, userId);
    if (member === undefined) throw notFound('Member', userId);
    if (member.role === 'owner' && !isSelf && !hasRole(caller.role, 'owner')) throw requiresRole('owner');
    keepsAnOwner(owners, userId);
    if (member.isGranted && !isSelf) throw grantedByGitHub(member);
    if (member.isGranted) await insertDeparture(em, projectId, userId);
    await em.delete(Members, { projectId, userId });
  });
}

function keepsAnOwner(owners: string[], leaving: string): void {
  if (owners.length === 1 && owners[0] === leaving)
    throw new Refused('A project needs an owner, and this is its only owner; make somebody else an owner first');
}

function grantedByGitHub({ login }: MemberView): Refused {
  return new Refused(
    `GitHub lists ${login} as an admin of the account, which makes them an owner; change it on GitHub`,
  );
}

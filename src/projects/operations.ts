import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { violatedUnique } from '../db/database.ts';
import { newId } from '../db/ids.ts';
import type { ProjectRow } from '../db/tables/project.ts';
import { hasRole, type Role, shippedAgents, shippedTeam } from '../domain/agent.ts';
import { changesBetween } from '../domain/audit.ts';
import { Refused } from '../domain/machine.ts';
import { slug } from '../domain/text/sanitize.ts';
import { badField, notFound, requiresRole } from '../errors.ts';
import { assertMayCreateProjects } from './admission.ts';
import { assertWithinLimits, serviceLimits } from './budgets.ts';
import {
  deleteDeparture,
  deleteMember,
  findMember,
  insertDeparture,
  insertMember,
  keepOwner,
  lockOwners,
  type MemberView,
  setRole,
} from './member-store.ts';
import type { CreateProject, UpdateProject } from './schemas.ts';
import {
  deleteProjectRow,
  findActiveInstallationOf,
  findProject,
  findUserByLogin,
  type GitHubUser,
  getProject,
  hasLiveRuns,
  insertAgents,
  insertProjectRow,
  insertUser,
  isAgentOf,
  lockProject,
  type ProjectView,
  updateProjectRow,
  upsertUser,
  viewProject,
} from './store.ts';

/**
 * Converts a project to the form that the API returns, with the limits of the service beside the project's own budgets.
 */
export function shown(app: App, project: ProjectView) {
  return { ...project, limits: serviceLimits(app) };
}

/**
 * Creates a project with its built-in agents. Its creator becomes its owner.
 * @throws AppError 403 for somebody who may not create projects
 */
export async function createProject(
  app: App,
  userId: string,
  input: z.output<typeof CreateProject>,
): Promise<ProjectView> {
  return app.db.transaction(async (em) => {
    await assertMayCreateProjects(app, em, userId);
    const project = await insertProject(em, { ...input, createdBy: userId });
    await insertMember(em, { projectId: project.id, userId, role: 'owner', addedBy: null });
    app.audit.note({ name: [null, project.name] });
    return viewProject(project, { role: 'owner', addedBy: null, github: null });
  });
}

/** Inserts a project with its agents but without members. The members of an installation's project come from GitHub. */
export async function insertProject(
  em: EntityManager,
  input: { name: string; description: string; createdBy: string | null },
): Promise<ProjectRow> {
  const id = newId('proj');
  await insertProjectRow(em, { id, slug: `${slug(input.name) || 'project'}-${id.slice(-6)}`, ...input });
  const agents = shippedAgents.map((a) => ({ ...a, id: newId('agent'), projectId: id, team: shippedTeam }));
  await insertAgents(em, agents);
  return findProject(em, id);
}

/**
 * Changes the given fields. Budgets that are not given stay.
 * @throws AppError 400 for a budget above its limit
 */
export async function updateProject(
  app: App,
  projectId: string,
  userId: string,
  input: z.output<typeof UpdateProject>,
): Promise<ProjectView> {
  const { budgets, ...fields } = input;
  assertWithinLimits(app, budgets ?? {});
  return app.db.transaction(async (em) => {
    const before = await lockProject(em, projectId);
    const { defaultAgentId } = input;
    if (defaultAgentId != null && !(await isAgentOf(em, defaultAgentId, projectId)))
      throw badField('defaultAgentId', 'defaultAgentId must be an agent of the project, or null');
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const change = { ...given, ...(budgets ? { budgets: { ...before.budgets, ...budgets } } : {}) };
    if (Object.keys(input).length > 0) await updateProjectRow(em, projectId, change as Partial<ProjectRow>);
    app.audit.note(changesBetween(before, { ...before, ...change }, Object.keys(change) as (keyof ProjectRow)[]));
    return getProject(em, projectId, userId);
  });
}

/**
 * Deletes a project.
 * @throws Refused while a run of the project is unfinished
 */
export async function deleteProject(app: App, projectId: string): Promise<void> {
  await app.db.transaction(async (em) => {
    const { name } = await lockProject(em, projectId);
    if (await hasLiveRuns(em, projectId))
      throw new Refused('The project has unfinished runs. Cancel them before you delete it.');
    await deleteProjectRow(em, projectId);
    app.audit.note({ name: [name, null] });
  });
}

/**
 * Adds a member by login. If GitHub is configured, the login must exist there.
 * @throws Refused for somebody who is a member already
 */
export async function addMember(
  app: App,
  projectId: string,
  caller: { id: string; role: Role },
  input: { login: string; role: Role },
): Promise<MemberView> {
  if (input.role === 'owner' && !hasRole(caller.role, 'owner')) throw requiresRole('owner');
  const installationId = await findActiveInstallationOf(app.db.manager, projectId);
  const account = await resolveLogin(app, input.login, installationId === undefined ? [] : [installationId]);
  return app.db.transaction(async (em) => {
    const known = account === undefined ? await findUserByLogin(em, input.login) : await upsertUser(em, account);
    const user = known ?? (await insertUser(em, input.login));
    try {
      await insertMember(em, { projectId, userId: user.id, role: input.role, addedBy: caller.id });
      await deleteDeparture(em, projectId, user.id);
    } catch (error) {
      if (violatedUnique(error) === undefined) throw error;
      throw new Refused(`${user.login} is already a member of the project.`);
    }
    app.audit.note({ login: [null, user.login], role: [null, input.role] });
    return (await findMember(em, projectId, user.id)) as MemberView;
  });
}

/**
 * Finds the GitHub account of a login; see `findUser` for the installations that are asked. Returns undefined if GitHub is not configured.
 * @throws AppError 400 for a login that does not exist
 */
export async function resolveLogin(
  app: App,
  login: string,
  installationIds?: number[],
): Promise<GitHubUser | undefined> {
  if (app.github === undefined) return undefined;
  const account = await app.github.findUser(login, installationIds);
  if (account === undefined) throw badField('login', `login must be an account on GitHub; there is no user ${login}`);
  return account;
}

/**
 * Changes or removes the role of a member.
 * @throws Refused for the only owner, and for an owner whom GitHub granted that role; AppError 403
 */
export async function changeRole(app: App, projectId: string, caller: Role, userId: string, role: Role | undefined) {
  return app.db.transaction(async (em) => {
    const owners = await lockOwners(em, projectId);
    const member = await findMember(em, projectId, userId);
    if (member === undefined) throw notFound('Member', userId);
    const mayChangeOwners = hasRole(caller, 'owner');
    if (role === 'owner' && member.isGranted && mayChangeOwners && (await keepOwner(em, projectId, userId)))
      app.audit.note({ stays: [null, 'owner'] });
    app.audit.note(changesBetween(member, { ...member, role: role ?? member.role }, ['role']));
    if (role === undefined || role === member.role) return member;
    if ((role === 'owner' || member.role === 'owner') && !mayChangeOwners) throw requiresRole('owner');
    assertOwnerRemains(owners, userId);
    if (member.isGranted) throw grantedByGitHub(member);
    await setRole(em, projectId, userId, role);
    return { ...member, role };
  });
}

/** Removes a member. Admins may remove members, owners may remove owners, and everyone may leave. */
export async function removeMember(app: App, projectId: string, caller: { id: string; role: Role }, userId: string) {
  const isSelf = caller.id === userId;
  await app.db.transaction(async (em) => {
    const owners = await lockOwners(em, projectId);
    const member = await findMember(em, projectId, userId);
    if (member === undefined) throw notFound('Member', userId);
    if (member.role === 'owner' && !isSelf && !hasRole(caller.role, 'owner')) throw requiresRole('owner');
    assertOwnerRemains(owners, userId);
    if (member.isGranted && !isSelf) throw grantedByGitHub(member);
    if (member.isGranted) await insertDeparture(em, projectId, userId);
    await deleteMember(em, projectId, userId);
    app.audit.note({ login: [member.login, null], role: [member.role, null] });
  });
}

function assertOwnerRemains(owners: string[], leaving: string): void {
  if (owners.length === 1 && owners[0] === leaving)
    throw new Refused('A project needs an owner, and this is its only owner. Make somebody else an owner first.');
}

function grantedByGitHub({ login }: MemberView): Refused {
  return new Refused(`${login} is an owner because they administer the account on GitHub. Change that on GitHub.`);
}

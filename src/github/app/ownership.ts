import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { InstallationRow } from '../../db/tables/github.ts';
import type { UserRow } from '../../db/tables/project.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import {
  deleteDeparture,
  grantOwnership,
  listDepartures,
  lockOwners,
  takeBackGrants,
} from '../../projects/member-store.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';

/**
 * Returns the admins of an account. Returns undefined when GitHub's response cannot be about this account: every
 * organization has admins, and another organization may have taken over the name.
 */
export async function adminsOf(octokit: Octokit, account: GitHubUser): Promise<GitHubUser[] | undefined> {
  if (account.type !== 'Organization') return [account];
  if (!(await isStillCalled(octokit, account))) return undefined;
  const admins = await octokit.paginate('GET /orgs/{org}/members', {
    org: account.login,
    role: 'admin',
    per_page: 100,
  });
  return admins.length === 0 ? undefined : admins;
}

async function isStillCalled(octokit: Octokit, { id, login }: GitHubUser): Promise<boolean> {
  try {
    return (await octokit.request('GET /orgs/{org}', { org: login })).data.id === id;
  } catch (error) {
    // The later request for the organization's members fails in the same way.
    if (isRefusedWith(error, 404)) return true;
    throw error;
  }
}

/**
 * Makes the admins of the account owners of its project. People who own the project only because they used to be admins
 * lose the ownership. Admins who left the project stay out, unless it would have no owner otherwise.
 */
export async function settleOwners(em: EntityManager, projectId: string, admins: GitHubUser[]): Promise<void> {
  const ids = [];
  for (const admin of admins) ids.push((await upsertUser(em, admin)).id);
  const departed = await listDepartures(em, projectId);
  for (const id of ids) if (!departed.has(id)) await grantOwnership(em, projectId, id);
  await takeBackGrants(em, projectId, ids);
  if ((await lockOwners(em, projectId)).length === 0) for (const id of ids) await welcome(em, projectId, id);
}

/** Makes an admin of the account an owner of the project, even if they had left it. */
export async function welcome(em: EntityManager, projectId: string, userId: string): Promise<void> {
  await deleteDeparture(em, projectId, userId);
  await grantOwnership(em, projectId, userId);
}

/** An account that has installed the App. */
export type InstalledAccount = Pick<InstallationRow, 'installationId' | 'accountId' | 'accountLogin' | 'accountType'>;

/**
 * Returns the role of a person in an account, or undefined for others. Also returns undefined when GitHub's response is about
 * another person or account.
 */
export async function roleInAccount(
  app: App,
  user: UserRow,
  installation: InstalledAccount,
): Promise<'admin' | 'member' | undefined> {
  if (installation.accountType === 'User') return installation.accountId === user.githubId ? 'admin' : undefined;
  const octokit = await app.github?.asInstallation(installation.installationId);
  try {
    const membership = await octokit?.request('GET /orgs/{org}/memberships/{username}', {
      org: installation.accountLogin,
      username: user.login,
    });
    if (membership === undefined) return undefined;
    const { role, state, organization, user: member } = membership.data;
    const isAboutThem = organization?.id === installation.accountId && member?.id === user.githubId;
    if (!isAboutThem || state !== 'active') return undefined;
    return role === 'admin' ? 'admin' : 'member';
  } catch (error) {
    if (isRefusedWith(error, 401, 403, 404, 451)) return undefined;
    throw error;
  }
}

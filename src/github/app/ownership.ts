import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { InstallationRow, UserRow } from '../../db/tables.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { deleteDeparture, grantOwnership, listDepartures, takeBackGrants } from '../../projects/grant-store.ts';
import { lockOwners } from '../../projects/member-store.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';

interface Account {
  id: number;
  login: string;
  type?: string;
}

/**
 * The admins of an account. Undefined when GitHub's answer cannot be about all of them: every organization has an
 * owner, and another one may have taken over the name.
 */
export async function adminsOf(octokit: Octokit, account: Account): Promise<GitHubUser[] | undefined> {
  if (account.type !== 'Organization') return [account];
  if (!(await isStillCalled(octokit, account))) return undefined;
  const admins = await octokit.paginate('GET /orgs/{org}/members', {
    org: account.login,
    role: 'admin',
    per_page: 100,
  });
  return admins.length === 0 ? undefined : admins;
}

async function isStillCalled(octokit: Octokit, { id, login }: Account): Promise<boolean> {
  try {
    return (await octokit.request('GET /orgs/{org}', { org: login })).data.id === id;
  } catch (error) {
    // What is not there has no members either; asking for them says so.
    if (isRefusedWith(error, 404)) return true;
    throw error;
  }
}

/**
 * Makes the admins of the account owners of its project, and takes back what GitHub granted to others. Those who left
 * stay away, unless the project would be left without an owner.
 */
export async function settleOwners(em: EntityManager, projectId: string, admins: GitHubUser[]): Promise<void> {
  const ids = [];
  for (const admin of admins) ids.push((await upsertUser(em, admin)).id);
  const departed = await listDepartures(em, projectId);
  for (const id of ids) if (!departed.has(id)) await grantOwnership(em, projectId, id);
  await takeBackGrants(em, projectId, ids);
  if ((await lockOwners(em, projectId)).length === 0) for (const id of ids) await welcome(em, projectId, id);
}

/** An admin of the account who comes in, be it after they left, is an owner. */
export async function welcome(em: EntityManager, projectId: string, userId: string): Promise<void> {
  await deleteDeparture(em, projectId, userId);
  await grantOwnership(em, projectId, userId);
}

/** Whether a person is an admin of the account; false also when GitHub's answer is not about these two. */
export async function administers(app: App, user: UserRow, installation: InstallationRow): Promise<boolean> {
  if (installation.accountType === 'User') return installation.accountId === user.githubId;
  const octokit = await app.github?.asInstallation(installation.installationId);
  try {
    const membership = await octokit?.request('GET /orgs/{org}/memberships/{username}', {
      org: installation.accountLogin,
      username: user.login,
    });
    if (membership === undefined) return false;
    const { role, state, organization, user: member } = membership.data;
    const isAboutThem = organization?.id === installation.accountId && member?.id === user.githubId;
    return isAboutThem && role === 'admin' && state === 'active';
  } catch (error) {
    if (isRefusedWith(error, 403, 404)) return false;
    throw error;
  }
}

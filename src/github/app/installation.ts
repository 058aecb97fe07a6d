import type { EntityManager } from 'typeorm';
import type { Answered, App, Octokit } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import type { InstallationRow, InstallationStatus } from '../../db/tables/github.ts';
import type { UserRow } from '../../db/tables/project.ts';
import { withAdvice } from '../../domain/text/github-advice.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { normalUrl } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { isGranted } from '../../projects/member-store.ts';
import { insertProject } from '../../projects/operations.ts';
import type { GitHubUser } from '../../projects/store.ts';
import {
  findByUrl,
  forgetSecretsOf,
  hasRepositories,
  insertRepository,
  lockProjectRow,
} from '../../repositories/store.ts';
import { cancelIfRunning } from '../../runs/operations.ts';
import { listenFromNow } from '../delivery-store.ts';
import { eachApart } from '../each-apart.ts';
import { makeLabels } from '../labels.ts';
import { findInstallation, listActiveInstallations } from '../store.ts';
import {
  findByGitHubId,
  findInstallationOfAccount,
  followDefaultBranch,
  isNameTaken,
  listTasksWithLiveRuns,
  lockAccount,
  markUninstalled,
  saveInstallation,
  setMovedAside,
  setProblem,
  storeSeen,
  updateInstallationStatus,
} from './installation-store.ts';
import { missingFrom } from './manifest.ts';
import { adminsOf, type InstalledAccount, roleInAccount, settleOwners, welcome } from './ownership.ts';

/** The fields of a repository that we use. */
export type GitHubRepository = Pick<
  Answered<'GET /installation/repositories'>['repositories'][number],
  'id' | 'name' | 'full_name' | 'private' | 'archived' | 'default_branch'
>;

/** Connects the repositories that an installation covers to its project. Updates those that are already connected. */
async function connectInstalled(
  app: App,
  em: EntityManager,
  projectId: string,
  found: GitHubRepository[],
): Promise<void> {
  await lockProjectRow(em, projectId);
  const urlOf = (r: GitHubRepository) => normalUrl(`${app.config.GITHUB_SERVER_URL}/${r.full_name}`);
  // Renamed repositories give up their old addresses first, because another repository may have taken one over.
  await setMovedAside(
    em,
    projectId,
    found.map((r) => ({ githubId: Number(r.id), url: urlOf(r) })),
  );
  for (const repository of found) await connect(em, projectId, repository, urlOf(repository));
}

async function connect(em: EntityManager, projectId: string, repository: GitHubRepository, url: string): Promise<void> {
  const seen = {
    isPrivate: repository.private,
    isArchived: repository.archived ?? false,
    isInstalled: true,
    githubId: Number(repository.id),
    url,
  };
  const known =
    (await findByGitHubId(em, projectId, Number(repository.id))) ?? (await findByUrl(em, projectId, url)) ?? undefined;
  const id = known?.id ?? newId('repo');
  if (!known?.isInstalled) await listenFromNow(em, id);
  // Nobody knows whether it is the one that an admin gave secrets to.
  if (known?.githubId === null) await forgetSecretsOf(em, known);
  if (known !== undefined) return storeSeen(em, id, seen);
  await insertRepository(em, {
    ...seen,
    id,
    projectId,
    name: await freeName(em, projectId, repository),
    defaultBranch: repository.default_branch ?? 'main',
    isDocsRepo: false,
    connectedBy: null,
    isPrimary: !(await hasRepositories(em, projectId)),
  });
}

/**
 * Returns GitHub's name of the repository. Prefixes the owner when the project already has a repository of that name.
 */
async function freeName(em: EntityManager, projectId: string, { name, full_name }: GitHubRepository): Promise<string> {
  return (await isNameTaken(em, projectId, name)) ? full_name.replace('/', '-').slice(0, 100) : name;
}

type AnsweredInstallation = Answered<'GET /app/installations/{installation_id}'>;

/** An installation as GitHub shows it. Events may leave out what we only report. */
export type InstallationInfo = Pick<AnsweredInstallation, 'id'> & {
  account: GitHubUser | Exclude<AnsweredInstallation['account'], { login: string }>;
} & { [Field in 'suspended_at' | 'permissions' | 'events']?: AnsweredInstallation[Field] | undefined };

/**
 * Updates the database to match an installation. Each account has one project, identified by the account's number. The
 * installed repositories are connected to that project, and the account's admins own it. `isNew` means that somebody
 * has just installed the App; this also restores a project that was deleted here.
 */
export async function syncInstallation(app: App, info: InstallationInfo, isNew = false): Promise<void> {
  const { account } = info;
  // An enterprise has no repositories.
  if (app.github === undefined || account === null || !('login' in account)) return;
  // One lock covers reading GitHub and storing the result, so that an older reading cannot overwrite a newer one.
  await app.db.withLock(`installation ${account.id}`, () =>
    readAndStore(app, { ...info, account: { ...account, id: Number(account.id) } }, isNew),
  );
}

type Installed = InstallationInfo & { account: GitHubUser & { id: number } };

async function readAndStore(app: App, info: Installed, isNew: boolean): Promise<void> {
  if (app.github === undefined) return;
  const installation = await app.db.transaction(async (em) => {
    await lockAccount(em, info.account.id);
    const known = await findInstallationOfAccount(em, info.account.id);
    return known?.status === 'ignored' && !isNew ? undefined : storeInstallation(em, info, known);
  });
  if (installation?.status !== 'active' || installation.projectId === null) return;
  const octokit = await app.github.asInstallation(info.id);
  const repositories = await noteRefusal(app, info, storeContents(app, octokit, info, installation.projectId));
  if (repositories === undefined) return;
  await notePermissions(app, info);
  const labelled = repositories.filter(({ archived }) => !archived);
  // One may have been deleted or blocked since they were listed.
  await eachApart(
    app,
    labelled,
    ({ full_name }) => ({ repository: full_name }),
    async ({ full_name }) => {
      const [owner = '', repo = ''] = full_name.split('/');
      await makeLabels(octokit, { owner, repo });
    },
  );
}

async function storeInstallation(
  em: EntityManager,
  { id, account, suspended_at }: Installed,
  known: InstallationRow | null,
): Promise<Pick<InstallationRow, 'status' | 'projectId'>> {
  const row = {
    accountId: account.id,
    installationId: id,
    accountLogin: account.login,
    accountType: account.type === 'Organization' ? ('Organization' as const) : ('User' as const),
    projectId:
      known?.projectId ?? (await insertProject(em, { name: account.login, description: '', createdBy: null })).id,
    status: suspended_at ? ('suspended' as const) : ('active' as const),
    // For a suspended one, this is when it was suspended.
    updatedAt: suspended_at ? new Date(suspended_at) : new Date(),
  };
  await saveInstallation(em, row);
  return row;
}

/** Stores why GitHub refuses our calls for an account, such as its list of allowed IP addresses. */
async function noteRefusal<T>(app: App, { account }: Installed, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!isRefusedWith(error, 401, 403, 404, 451)) throw error;
    const { status, message } = error as { status: number; message: string };
    const reason = withAdvice(`GitHub refuses access to ${account.login} (HTTP ${status}): ${oneLine(message, 400)}`);
    await setProblem(app.db.manager, account.id, { kind: 'refused', reason });
    app.log.warn({ account: account.login, status }, 'GitHub refuses access to an account');
    return undefined;
  }
}

/** Stores which permissions and events of app.yml the admins of an account have not accepted yet. */
async function notePermissions(app: App, { account, permissions, events }: Installed): Promise<void> {
  const isOrganization = account.type === 'Organization';
  const missing =
    permissions === undefined || events === undefined ? [] : missingFrom({ permissions, events }, isOrganization);
  const reason = `${account.login} has not accepted all permissions and events of the App: ${missing.join(', ')}. An owner of the account can accept them on GitHub, in the settings of the installation.`;
  const problem = missing.length === 0 ? undefined : { kind: 'missing_permissions' as const, reason };
  await setProblem(app.db.manager, account.id, problem);
}

/** Stores the project's owners and the installed repositories. Returns those repositories. */
async function storeContents(
  app: App,
  octokit: Octokit,
  { account }: Installed,
  projectId: string,
): Promise<GitHubRepository[]> {
  const admins = await adminsOf(octokit, account);
  if (admins === undefined) app.log.warn({ account: account.login }, 'the admins of the account could not be read');
  const repositories = await octokit.paginate('GET /installation/repositories', { per_page: 100 });
  await app.db.transaction(async (em) => {
    if (admins !== undefined) await settleOwners(em, projectId, admins);
    await connectInstalled(app, em, projectId, repositories);
  });
  const covered = repositories.map((r) => Number(r.id));
  await cancelRunsIn(app, await markUninstalled(app.db.manager, projectId, covered));
  return repositories;
}

/** Handles an App that was uninstalled or suspended: cancels its runs and keeps its history. */
async function endInstallation(app: App, installationId: number, status: InstallationStatus): Promise<void> {
  const installation = await findInstallation(app.db.manager, installationId);
  if (installation === null || installation.status === 'ignored') return;
  await updateInstallationStatus(app.db.manager, installation.accountId, status);
  if (installation.projectId === null) return;
  await cancelRunsIn(app, await markUninstalled(app.db.manager, installation.projectId, []));
}

/** Reads the current state of an installation from GitHub, because events about it may arrive late and in any order. */
export async function observeInstallation(app: App, installationId: number): Promise<void> {
  if (app.github === undefined) return;
  const octokit = await app.github.asApp();
  const path = 'GET /app/installations/{installation_id}';
  const found = await octokit.request(path, { installation_id: installationId }).catch((error) => {
    if (!isRefusedWith(error, 404)) throw error;
  });
  if (found === undefined) await endInstallation(app, installationId, 'deleted');
  else if (found.data.suspended_at) await endInstallation(app, installationId, 'suspended');
  else await syncInstallation(app, found.data);
}

async function cancelRunsIn(app: App, repositoryIds: string[]): Promise<void> {
  for (const taskId of await listTasksWithLiveRuns(app.db.manager, repositoryIds)) await cancelIfRunning(app, taskId);
}

/**
 * Reads all installations of the App, because events may be lost and some installations are older than this service.
 */
export async function syncInstallations(app: App): Promise<void> {
  if (app.github === undefined) return;
  const octokit = await app.github.asApp();
  const found = await octokit.paginate('GET /app/installations', { per_page: 100 });
  const about = ({ id }: InstallationInfo) => ({ installation: id });
  await eachApart(app, found, about, async (info) => {
    await syncInstallation(app, info);
    if (info.suspended_at) await endInstallation(app, info.id, 'suspended');
  });
}

/** What GitHub says about the memberships of a person. */
interface Memberships {
  /** The person is a member of an account that has installed the App. */
  isMember: boolean;
  /** Why GitHub did not say everything; undefined if it did. */
  problem: unknown;
}

/** Somebody who signs in waits until all accounts were asked, so that many are asked at the same time. */
const askedAtOnce = 10;

/**
 * Makes a person owner of the projects whose accounts they administer. GitHub is asked at each sign-in. If the person
 * no longer administers an account, the account's list of admins is read again, and they lose the ownership that came
 * from it.
 */
export async function claimOwnerships(app: App, user: UserRow): Promise<Memberships> {
  const found: Memberships = { isMember: false, problem: undefined };
  if (app.github === undefined || user.githubId === null) return found;
  const noted = (problem: unknown) => {
    found.problem ??= problem;
    throw problem;
  };
  const installations = await listActiveInstallations(app.db.manager);
  const about = ({ installationId }: Pick<InstallationRow, 'installationId'>) => ({ installation: installationId });
  // A failure of GitHub must not prevent the sign-in of a member of a project. The regular sweep tries again.
  const claim = async ({ projectId, ...installation }: InstallationRow) => {
    const role = await roleInAccount(app, user, installation).catch(noted);
    found.isMember ||= role !== undefined;
    if (projectId === null) return;
    if (role === 'admin') await app.db.transaction((em) => welcome(em, projectId, user.id));
    else if (await isGranted(app.db.manager, projectId, user.id))
      await observeInstallation(app, installation.installationId);
  };
  await eachApart(app, installations, about, claim, askedAtOnce);
  if (found.isMember) return found;
  const others = await listOthers(app, new Set(installations.map((each) => each.accountId))).catch((error) => {
    found.problem ??= error;
    return [];
  });
  const ask = async (installation: InstalledAccount) => {
    found.isMember ||= (await roleInAccount(app, user, installation).catch(noted)) !== undefined;
  };
  await eachApart(app, others, about, ask, askedAtOnce);
  return found;
}

/** Accounts that GitHub lists on at most this many pages are searched for those that are not stored yet. */
const maxPages = 10;

/**
 * Lists installations that are not stored yet: the webhook may not have arrived when the person who installed the App signs
 * in.
 */
async function listOthers(app: App, stored: Set<number>): Promise<InstalledAccount[]> {
  const octokit = await app.github?.asApp();
  if (octokit === undefined) return [];
  let page = 0;
  const found = await octokit.paginate('GET /app/installations', { per_page: 100 }, ({ data }, done) => {
    page += 1;
    if (page === maxPages) done();
    return data;
  });
  return found.flatMap(({ id, account, suspended_at }) => {
    if (account === null || !('login' in account) || suspended_at || stored.has(Number(account.id))) return [];
    const accountType = account.type === 'Organization' ? ('Organization' as const) : ('User' as const);
    return { installationId: id, accountId: Number(account.id), accountLogin: account.login, accountType };
  });
}

interface RepositoryEvent {
  installation?: { id: number } | undefined;
  repository: { id: number; default_branch?: string };
}

/**
 * Handles a repository that was renamed, transferred, archived, deleted, made public or private, or got another default
 * branch. Reads the installation again, which finds the repository by its number. `before` is the previous default branch,
 * if it changed.
 */
export async function followRepository(app: App, payload: RepositoryEvent, before?: string): Promise<void> {
  if (payload.installation === undefined || app.github === undefined) return;
  const em = app.db.manager;
  const known = await findInstallation(em, payload.installation.id);
  if (known === null || known.projectId === null) return;
  const { id: githubId, default_branch: now } = payload.repository;
  // The new default branch is stored only where the previous one was, because people may have chosen another branch
  // here.
  if (before !== undefined && now !== undefined)
    await followDefaultBranch(em, { projectId: known.projectId, githubId, before, now });
  await observeInstallation(app, payload.installation.id);
}

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import {
  type InstallationRow,
  type InstallationStatus,
  Installations,
  Repositories,
  type UserRow,
} from '../../db/tables.ts';
import { normalUrl } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { isGranted } from '../../projects/grant-store.ts';
import { insertProject } from '../../projects/operations.ts';
import { findByUrl, hasRepositories, lockProject } from '../../repositories/store.ts';
import { cancelIfRunning } from '../../runs/operations.ts';
import { listenFromNow } from '../inbox/delivery-store.ts';
import { makeLabels } from '../mirror/sync-labels.ts';
import { findInstallation, listActiveInstallations } from '../store.ts';
import { administers, adminsOf, settleOwners, welcome } from './ownership.ts';

/** What we need of GitHub's installation object. */
export interface InstallationInfo {
  id: number;
  account: { id: number; login: string; type?: string } | null;
  suspended_at?: string | null;
}

interface GitHubRepository {
  id: number;
  name: string;
  full_name: string;
  private: boolean;
  archived?: boolean;
  default_branch?: string;
}

/**
 * Makes the database agree with an installation: one project per account, found again by the account's number, with
 * its repositories connected and its admins as owners (decisions, section 9). `isNew` when GitHub says it was just
 * installed, which brings an ignored account back.
 */
export async function syncInstallation(app: App, info: InstallationInfo, isNew = false): Promise<void> {
  const { account } = info;
  if (app.github === undefined || account === null) return;
  // Reading and writing are one turn, so that an older reading does not overwrite a newer one.
  await app.db.turn(`installation ${account.id}`, () => readAndSettle(app, { ...info, account }, isNew));
}

type Installed = InstallationInfo & { account: NonNullable<InstallationInfo['account']> };

async function readAndSettle(app: App, info: Installed, isNew: boolean): Promise<void> {
  if (app.github === undefined) return;
  const { account } = info;
  const installation = await app.db.transaction(async (em) => {
    await em.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [`installation ${account.id}`]);
    const known = await em.findOneBy(Installations, { accountId: account.id });
    if (known?.status === 'ignored' && !isNew) return undefined;
    return upsertInstallation(em, info, account, known);
  });
  if (installation === undefined || installation.status !== 'active' || installation.projectId === null) return;
  const octokit = await app.github.asInstallation(info.id);
  const admins = await adminsOf(octokit, account);
  const repositories = (await octokit.paginate('GET /installation/repositories', {
    per_page: 100,
  })) as GitHubRepository[];
  if (admins === undefined) app.log.warn({ account: account.login }, 'the admins of the account could not be read');
  await app.db.transaction(async (em) => {
    const projectId = installation.projectId as string;
    if (admins !== undefined) await settleOwners(em, projectId, admins);
    await connectInstalled(app, em, projectId, repositories);
  });
  const gone = await forgetUninstalled(
    app.db.manager,
    installation.projectId,
    repositories.map((r) => r.id),
  );
  await cancelRunsOf(app, gone);
  for (const { full_name, archived } of repositories) {
    const [owner = '', repo = ''] = full_name.split('/');
    if (!archived) await makeLabels(octokit, { owner, repo });
  }
}

async function upsertInstallation(
  em: EntityManager,
  info: InstallationInfo,
  account: { id: number; login: string; type?: string },
  known: InstallationRow | null,
): Promise<InstallationRow> {
  const row: Omit<InstallationRow, 'updatedAt'> = {
    accountId: account.id,
    installationId: info.id,
    accountLogin: account.login,
    accountType: account.type === 'Organization' ? 'Organization' : 'User',
    projectId: known?.projectId ?? (await insertProject(em, { name: account.login, description: '' })).id,
    status: info.suspended_at ? 'suspended' : 'active',
  };
  // An account that had this name before has another one by now; the next comparison learns which.
  await em.query(
    `update installations set account_login = account_login || '~' || account_id
     where lower(account_login) = lower($1) and account_id <> $2`,
    [account.login, account.id],
  );
  await em.upsert(Installations, { ...row, updatedAt: new Date() }, ['accountId']);
  return { ...row, updatedAt: new Date() };
}

async function connectInstalled(
  app: App,
  em: EntityManager,
  projectId: string,
  found: GitHubRepository[],
): Promise<void> {
  await lockProject(em, projectId);
  await setMovedAside(app, em, projectId, found);
  for (const repository of found) {
    const url = normalUrl(`${app.config.GITHUB_SERVER_URL}/${repository.full_name}`);
    const seen = {
      isPrivate: repository.private,
      isArchived: repository.archived ?? false,
      isInstalled: true,
      githubId: repository.id,
    };
    const known =
      (await em.findOneBy(Repositories, { projectId, githubId: repository.id })) ??
      (await findByUrl(em, projectId, url));
    if (known) {
      await em.update(Repositories, { id: known.id }, { ...seen, url });
      if (!known.isInstalled) await listenFromNow(em, known.id);
      continue;
    }
    const id = newId('repo');
    await listenFromNow(em, id);
    await em.insert(Repositories, {
      ...seen,
      id,
      projectId,
      name: await freeName(em, projectId, repository),
      url,
      defaultBranch: repository.default_branch ?? 'main',
      isPrimary: !(await hasRepositories(em, projectId)),
    });
  }
}

/**
 * Repositories that moved give up their addresses first: two may have swapped their names, and a new one may have the
 * name of one that is gone. What stays aside has an address that leads nowhere.
 */
async function setMovedAside(app: App, em: EntityManager, projectId: string, found: GitHubRepository[]): Promise<void> {
  const urls = found.map((r) => normalUrl(`${app.config.GITHUB_SERVER_URL}/${r.full_name}`));
  await em.query(
    `update repositories r set url = r.url || '/replaced/' || r.id
     from unnest($2::bigint[], $3::text[]) as now (github_id, url)
     where r.project_id = $1 and (r.github_id = now.github_id) <> (lower(r.url) = lower(now.url))`,
    [projectId, found.map((r) => r.id), urls],
  );
}

/** GitHub's name, with the owner in front when the project has another repository of that name. */
async function freeName(em: EntityManager, projectId: string, { name, full_name }: GitHubRepository): Promise<string> {
  const taken = await em.query('select 1 from repositories where project_id = $1 and lower(name) = lower($2)', [
    projectId,
    name,
  ]);
  return taken.length === 0 ? name : full_name.replace('/', '-').slice(0, 100);
}

/** Takes the mark of the installation from repositories it no longer covers; answers which. */
async function forgetUninstalled(em: EntityManager, projectId: string, covered: number[]): Promise<string[]> {
  const [rows] = await em.query(
    `update repositories set is_installed = false
     where project_id = $1 and is_installed and not (github_id = any($2)) returning id`,
    [projectId, covered],
  );
  return rows.map((r: { id: string }) => r.id);
}

/** The App was uninstalled or suspended: its runs stop, its history stays. */
export async function endInstallation(app: App, installationId: number, status: InstallationStatus): Promise<void> {
  const installation = await findInstallation(app.db.manager, installationId);
  if (installation === null || installation.status === 'ignored') return;
  await app.db.manager.update(Installations, { accountId: installation.accountId }, { status, updatedAt: new Date() });
  if (installation.projectId === null) return;
  await cancelRunsOf(app, await forgetUninstalled(app.db.manager, installation.projectId, []));
}

/** What an installation is now: events about it may come late and in any order. */
export async function observeInstallation(app: App, installationId: number): Promise<void> {
  if (app.github === undefined) return;
  const octokit = await app.github.asApp();
  try {
    const path = 'GET /app/installations/{installation_id}';
    const { data } = await octokit.request(path, { installation_id: installationId });
    const { id, account, suspended_at } = data as unknown as InstallationInfo;
    if (suspended_at) await endInstallation(app, installationId, 'suspended');
    else await syncInstallation(app, { id, account, suspended_at: null });
  } catch (error) {
    if (!isRefusedWith(error, 404)) throw error;
    await endInstallation(app, installationId, 'deleted');
  }
}

async function cancelRunsOf(app: App, repositoryIds: string[]): Promise<void> {
  const tasks: { taskId: string }[] = await app.db.manager.query(
    `select r.task_id as "taskId" from runs r join tasks t on t.id = r.task_id
     where t.repository_id = any($1) and r.status in ('queued', 'running')`,
    [repositoryIds],
  );
  for (const { taskId } of tasks) await cancelIfRunning(app, taskId);
}

/** Finds installations that nobody told us of, such as those made before the first start. */
export async function syncInstallations(app: App): Promise<void> {
  if (app.github === undefined) return;
  const octokit = await app.github.asApp();
  const found = await octokit.paginate('GET /app/installations', { per_page: 100 });
  for (const { id, account, suspended_at } of found as unknown as InstallationInfo[])
    await syncInstallation(app, { id, account, suspended_at: suspended_at ?? null });
}

/**
 * Makes a person owner of the projects whose accounts they administer; asked of GitHub each time they come in. Where
 * they do not any more, the account's list of admins decides.
 */
export async function claimOwnerships(app: App, user: UserRow): Promise<void> {
  if (app.github === undefined || user.githubId === null) return;
  for (const installation of await listActiveInstallations(app.db.manager)) {
    const { projectId } = installation;
    if (projectId === null) continue;
    if (await administers(app, user, installation)) await app.db.transaction((em) => welcome(em, projectId, user.id));
    else if (await isGranted(app.db.manager, projectId, user.id))
      // The sweep looks again; that GitHub cannot be asked now must not keep anybody out.
      await observeInstallation(app, installation.installationId).catch((error) =>
        app.log.warn({ err: error }, 'the admins of an account could not be read'),
      );
  }
}

import type { App, Octokit, TokenPermissions } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { notConfigured } from '../errors.ts';
import { GitFailed, type Remote } from '../git/engine.ts';
import {
  githubName,
  type HostRules,
  hostProblem,
  normalUrl,
  openAddress,
  type RepoName,
  resolveOnce,
} from '../git/remote-url.ts';
import { revealSecret } from '../projects/secrets.ts';
import { findUser, upsertUser } from '../projects/store.ts';
import { rightOf, unlessMissing } from './permission.ts';
import { findActiveInstallation, findRepository, hasSecrets, hasServers, setGitHubId, setPrivate } from './store.ts';

/** An installation of the App that covers a repository. */
type Installed = { kind: 'installation'; installationId: number; githubId: number | null } & RepoName;

/** The credential with which the service authenticates at a repository. */
export type Credential = Installed | ({ kind: 'git-token'; token: string } & RepoName) | { kind: 'none' };

export function hostRules(app: App): HostRules {
  return {
    githubOrigin: new URL(app.config.GITHUB_SERVER_URL).origin,
    proxies: app.config.proxies,
    allowPrivateHosts: app.config.ALLOW_PRIVATE_HOSTS,
  };
}

/** Returns the address of GitHub, without a slash at its end. Behind a proxy it may have a path. */
export function githubUrl(app: App): string {
  return normalUrl(app.config.GITHUB_SERVER_URL);
}

export function nameOnGitHub(app: App, url: string): RepoName | undefined {
  return githubName(url, githubUrl(app));
}

/**
 * Chooses the credential of a project for a repository. The installation's token may be used by the installation's own
 * project. Another project may use it only if the person who connected the repository can write to it now; otherwise
 * the project could reach other people's repositories through the App. In all other cases, the project's own git token
 * is used.
 */
export async function credentialFor(app: App, repository: RepositoryRow): Promise<Credential> {
  const name = nameOnGitHub(app, repository.url);
  const ofApp = name === undefined ? undefined : await credentialOfApp(app, repository, name);
  if (ofApp !== undefined) return ofApp;
  const origin = new URL(repository.url).origin;
  const mayGetToken = origin === hostRules(app).githubOrigin || app.config.GIT_HOSTS.includes(origin);
  const token = mayGetToken ? await revealSecret(app, repository.projectId, 'git_token') : undefined;
  return token === undefined
    ? { kind: 'none' }
    : { kind: 'git-token', token, owner: name?.owner ?? '', repo: name?.repo ?? '' };
}

/** Returns the installation's credential, if the project may use it. Returns `none` if it may use no other either. */
async function credentialOfApp(app: App, repository: RepositoryRow, name: RepoName): Promise<Credential | undefined> {
  const installation = app.github === undefined ? null : await findActiveInstallation(app.db.manager, name.owner);
  if (installation === null) return undefined;
  const { installationId, projectId } = installation;
  const isOwn = projectId === repository.projectId && repository.isInstalled;
  const answer = isOwn ? 'may write' : await askAboutConnector(app, repository, name, installationId);
  // The project's own token would reach the other repository, with the secrets of this one.
  if (answer === 'another repository') return { kind: 'none' };
  return answer === 'may not'
    ? undefined
    : { kind: 'installation', installationId, ...name, githubId: repository.githubId };
}

/** How long a refusal counts: the requests to ask again are those of somebody else's installation. */
const refusedMs = 60_000;
const maxRefused = 10_000;

/**
 * Asks GitHub whether the person who connected a repository can write to it now, even under a new login, and whether the
 * address still belongs to the repository that they connected, and not to one that took over the name.
 */
async function askAboutConnector(
  app: App,
  repository: RepositoryRow,
  name: RepoName,
  installationId: number,
): Promise<'may write' | 'may not' | 'another repository'> {
  if (repository.connectedBy === null || app.github === undefined) return 'may not';
  const person = await findUser(app.db.manager, repository.connectedBy);
  if (person === null || person.githubId === null) return 'may not';
  const key = `${installationId} ${person.id} ${name.owner}/${name.repo}`;
  const { refused } = app.github;
  if (performance.now() < (refused.get(key) ?? 0)) return 'may not';
  const octokit = await app.github.asInstallation(installationId);
  const { right, login } = await rightOf(octokit, name, { id: person.githubId, login: person.login });
  if (login !== person.login) await upsertUser(app.db.manager, { id: person.githubId, login });
  if (right !== 'write') {
    if (refused.size >= maxRefused) refused.clear();
    refused.set(key, performance.now() + refusedMs);
    return 'may not';
  }
  const { data } = await octokit.request('GET /repos/{owner}/{repo}', name);
  return (await isSame(app, repository, Number(data.id))) ? 'may write' : 'another repository';
}

/**
 * Finds the active installation that covers a repository on GitHub, whichever credential its project uses there. GitHub is
 * asked, because what is stored may be older than the address. A project learns nothing about other people's
 * installations, unless it knew the repository by its number.
 * @throws Error while the account of an installed repository is being renamed
 */
export async function installationOf(app: App, repository: RepositoryRow): Promise<Installed | undefined> {
  const name = nameOnGitHub(app, repository.url);
  if (name === undefined || app.github === undefined) return undefined;
  const known = await findActiveInstallation(app.db.manager, name.owner);
  if (known === null && repository.isInstalled) throw new Error(`no installation serves ${name.owner}`);
  if (known === null || (known.projectId !== repository.projectId && repository.githubId === null)) return undefined;
  const octokit = await app.github.asApp();
  const found = await unlessMissing(octokit.request('GET /repos/{owner}/{repo}/installation', name));
  return found && { ...name, kind: 'installation', installationId: found.id, githubId: repository.githubId };
}

/**
 * Returns whether the repository that GitHub shows at an address is the one that was connected. Stores its number if none
 * is known, which is so when GitHub could not be asked at connection time. During the connection itself the row does not
 * exist yet, so this updates nothing.
 */
async function isSame(app: App, repository: RepositoryRow, githubId: number): Promise<boolean> {
  const { id, url } = repository;
  if (repository.githubId === null) await setGitHubId(app.db.manager, { id, url }, githubId);
  const known = repository.githubId ?? (await findRepository(app.db.manager, id))?.githubId ?? githubId;
  if (known !== githubId) {
    app.log.warn(
      { repositoryId: repository.id, url: repository.url },
      'this address now belongs to another repository',
    );
    return false;
  }
  return true;
}

/**
 * Returns which repository a connected one is on its host, for what is kept of it: a name may belong to another one later, and
 * a renamed one keeps its number.
 */
export function onHost({ githubId, url }: Pick<RepositoryRow, 'githubId' | 'url'>): string {
  return githubId === null ? url : String(githubId);
}

async function lookUp(app: App, credential: Credential, name: RepoName) {
  const octokit = await octokitFor(app, credential);
  const found = await unlessMissing(octokit.request('GET /repos/{owner}/{repo}', name));
  // A host that only looks like GitHub may show a repository without a number.
  if (found === undefined || !Number.isSafeInteger(Number(found.id))) return undefined;
  return { id: Number(found.id), isPrivate: found.private, defaultBranch: found.default_branch };
}

/**
 * Stores whether a repository is private. GitHub sends no events about repositories without an installation. The caller
 * goes on with the row that it has read, so this changes that row as well.
 */
async function notePrivate(app: App, repository: RepositoryRow, isPrivate: boolean): Promise<void> {
  if (repository.isInstalled || typeof isPrivate !== 'boolean' || repository.isPrivate === isPrivate) return;
  await setPrivate(app.db.manager, repository, isPrivate);
  repository.isPrivate = isPrivate;
}

/** What GitHub says of a repository; nothing if it was not asked. */
interface FoundOnGitHub {
  githubId?: number;
  defaultBranch?: string;
}

/**
 * Checks that the address of a repository still belongs to the one that was connected. Its secrets and what was kept of it
 * would go to another one that took over the name, and a public one can be fetched with any token. Also notes whether it
 * is private now. Returns its number and its default branch on GitHub; nothing if no number was known, nobody can ask for it, and the
 * repository has neither secrets nor MCP servers to lose.
 * @throws GitFailed `missing` if it does not; AppError 503 without a credential to ask with
 */
async function checkOnGitHub(app: App, repository: RepositoryRow, credential: Credential): Promise<FoundOnGitHub> {
  const name = nameOnGitHub(app, repository.url);
  if (name === undefined) return {};
  const em = app.db.manager;
  const mayBeUnknown =
    repository.githubId === null && !(await hasSecrets(em, repository)) && !(await hasServers(em, repository));
  const found = await lookUp(app, credential, name).catch((error) => {
    if (!mayBeUnknown) throw error;
    return undefined;
  });
  if (found === undefined && mayBeUnknown) return {};
  if (found !== undefined && (await isSame(app, repository, found.id))) {
    await notePrivate(app, repository, found.isPrivate);
    return { githubId: found.id, defaultBranch: found.defaultBranch };
  }
  const problem =
    found === undefined
      ? 'GitHub shows no repository there'
      : 'that address belongs to another repository now. Set the new address of the repository';
  throw new GitFailed('missing', `git: ${repository.url}: ${problem}`);
}

/**
 * Returns where to fetch from, with a token that has only the given permissions.
 * @throws what `checkOnGitHub` throws
 */
export async function remoteFor(
  app: App,
  repository: RepositoryRow,
  credential: Credential,
  permissions: TokenPermissions,
): Promise<Remote> {
  const { githubId = null, defaultBranch } = await checkOnGitHub(app, repository, credential);
  const route = await resolveOnce(repository.url, hostRules(app));
  const token = await tokenOf(app, credential, permissions);
  return {
    url: repository.url,
    defaultBranch,
    ...token,
    ...route,
    scope: `${repository.projectId} ${onHost({ githubId, url: repository.url })}`,
  };
}

async function tokenOf(
  app: App,
  credential: Credential,
  permissions: TokenPermissions,
): Promise<Pick<Remote, 'token' | 'tokenEndsAt'>> {
  if (credential.kind === 'git-token') return { token: credential.token };
  if (credential.kind === 'none' || app.github === undefined) return {};
  const { token, endsAt } = await app.github.mintToken(credential.installationId, credential, permissions);
  return { token, tokenEndsAt: endsAt };
}

/**
 * Creates a client of GitHub's API that uses a credential.
 * @throws AppError 503 without a credential
 */
export async function octokitFor(app: App, credential: Credential): Promise<Octokit> {
  if (credential.kind === 'git-token') return app.githubWithToken(credential.token);
  if (credential.kind === 'installation' && app.github !== undefined)
    return app.github.asInstallation(credential.installationId);
  throw noCredential();
}

/** Builds the 503 for a repository without a credential. It names the settings that would help. */
export function noCredential() {
  return notConfigured(
    'No git credential for the repository: install the GitHub App on it, or set the git token of the project (POST /projects/:projectId/git-token)',
  );
}

/**
 * Returns a function that finds the address to connect to for the URL of an MCP server or an attachment, by the rules
 * for repository URLs. It throws for URLs and addresses that these rules refuse. Call it before every request, because
 * settings and names change.
 */
export function checkedAddress(app: App) {
  const rules = hostRules(app);
  return async (url: URL) => {
    const problem = hostProblem(url, rules);
    if (problem !== undefined) throw new Error(`the address ${problem}`);
    return openAddress(url, rules).catch((error) => {
      throw error instanceof GitFailed ? new Error(error.message.replace(/^git: /, '')) : error;
    });
  };
}

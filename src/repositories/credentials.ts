import type { App, Octokit, TokenPermissions } from '../app.ts';
import { type RepositoryRow, Users } from '../db/tables.ts';
import { notConfigured } from '../errors.ts';
import type { Remote } from '../git/engine.ts';
import { githubName, type HostRules, resolveOnce } from '../git/remote-url.ts';
import { revealSecret } from '../projects/secrets.ts';
import { findActiveInstallation } from './store.ts';

/** How the service may reach a repository: whose right it uses, and what speaks with it. */
export type Credential =
  | { kind: 'installation'; installationId: number; owner: string; repo: string }
  | { kind: 'git-token'; token: string; owner: string; repo: string }
  | { kind: 'none' };

export function hostRules(app: App): HostRules {
  return {
    githubOrigin: new URL(app.config.GITHUB_SERVER_URL).origin,
    allowPrivateHosts: app.config.ALLOW_PRIVATE_HOSTS,
  };
}

export function nameOnGitHub(app: App, url: string): { owner: string; repo: string } | undefined {
  return githubName(url, hostRules(app).githubOrigin);
}

/**
 * Which right a project has to a repository (decisions, section 3): the installation's where the installation is the
 * project's own, or where the person who connected the repository may write there now; else the project's git token.
 */
export async function credentialFor(app: App, repository: RepositoryRow): Promise<Credential> {
  const name = nameOnGitHub(app, repository.url);
  if (name !== undefined && app.github !== undefined) {
    const installation = await findActiveInstallation(app.db.manager, name.owner);
    if (installation !== null) {
      const isOwn = installation.projectId === repository.projectId && repository.isInstalled;
      if (isOwn || (await connectorMayWrite(app, repository, name, installation.installationId)))
        return { kind: 'installation', installationId: installation.installationId, ...name };
    }
  }
  const origin = new URL(repository.url).origin;
  const mayGetToken = origin === hostRules(app).githubOrigin || app.config.GIT_HOSTS.includes(origin);
  const token = mayGetToken ? await revealSecret(app, repository.projectId, 'git_token') : undefined;
  return token === undefined
    ? { kind: 'none' }
    : { kind: 'git-token', token, owner: name?.owner ?? '', repo: name?.repo ?? '' };
}

async function connectorMayWrite(
  app: App,
  repository: RepositoryRow,
  name: { owner: string; repo: string },
  installationId: number,
): Promise<boolean> {
  if (repository.connectedBy === null || app.github === undefined) return false;
  const person = await app.db.manager.findOneBy(Users, { id: repository.connectedBy });
  if (person === null || person.githubId === null) return false;
  return mayWrite(await app.github.asInstallation(installationId), name, person.login);
}

/** Whether somebody has write permission on a repository. */
export async function mayWrite(octokit: Octokit, name: { owner: string; repo: string }, login: string) {
  return (await rightOf(octokit, name, login)) === 'write';
}

/** What somebody may do on a repository, by GitHub's collaborator endpoint. Whoever is not known there may nothing. */
export async function rightOf(
  octokit: Octokit,
  name: { owner: string; repo: string },
  login: string,
): Promise<'write' | 'read' | 'none'> {
  try {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
      ...name,
      username: login,
    });
    // `permission` folds maintain into write and custom roles into their base; `role_name` names the plain roles.
    if (['admin', 'write'].includes(data.permission) || ['admin', 'maintain', 'write'].includes(data.role_name))
      return 'write';
    return data.permission === 'none' ? 'none' : 'read';
  } catch (error) {
    if ((error as { status?: number }).status === 404) return 'none';
    throw error;
  }
}

/** Where to fetch from, with a token that can do no more than is asked for. */
export async function remoteFor(
  app: App,
  repository: RepositoryRow,
  credential: Credential,
  permissions: TokenPermissions,
): Promise<Remote> {
  const resolved = await resolveOnce(repository.url, hostRules(app));
  const token = await tokenOf(app, credential, permissions);
  return { url: repository.url, ...token, resolved, scope: repository.projectId };
}

async function tokenOf(
  app: App,
  credential: Credential,
  permissions: TokenPermissions,
): Promise<Pick<Remote, 'token' | 'tokenEndsAt'>> {
  if (credential.kind === 'git-token') return { token: credential.token };
  if (credential.kind === 'none' || app.github === undefined) return {};
  const { token, endsAt } = await app.github.mintToken(credential.installationId, credential.repo, permissions);
  return { token, tokenEndsAt: endsAt };
}

/** A client of GitHub's API with the right of that credential. @throws AppError 503 without one */
export async function octokitFor(app: App, credential: Credential): Promise<Octokit> {
  if (credential.kind === 'git-token') return app.githubWithToken(credential.token);
  if (credential.kind === 'installation' && app.github !== undefined)
    return app.github.asInstallation(credential.installationId);
  throw noCredential();
}

/** 503 naming what would help. */
export function noCredential() {
  return notConfigured(
    'No git credential for the repository: install the GitHub App on it, or set the git token of the project (POST /projects/:projectId/git-token)',
  );
}

import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { findActiveInstallationOf } from '../../projects/store.ts';
import { nameOnGitHub } from '../../repositories/credentials.ts';
import { findRepository } from '../../repositories/store.ts';
import { findInstalledRepository } from '../store.ts';
import { observeInstallation } from './installation.ts';

/** A connected repository that an installation of the App covers, and the client for it. */
export interface Place {
  octokit: Octokit;
  installationId: number;
  name: RepoName;
  repository: RepositoryRow;
}

/**
 * Finds the repository of an event. Returns undefined when none of our installations covers it. When the name in the
 * event differs from the stored name, one of them is out of date, so GitHub is asked which one is right.
 */
export async function placeOfEvent(
  app: App,
  installation: { id: number } | undefined,
  repository: { id: number; full_name?: string } | undefined,
): Promise<Place | undefined> {
  if (installation === undefined || repository === undefined) return undefined;
  const find = async () => {
    const row = await findInstalledRepository(app.db.manager, installation.id, repository.id);
    return row && placeAt(app, row, installation.id);
  };
  const place = await find();
  const toldName = repository.full_name;
  if (place === undefined || toldName === undefined || isCalled(place, toldName) || (await isNameCurrent(place)))
    return place;
  await observeInstallation(app, installation.id);
  return find();
}

function isCalled({ name }: Place, fullName: string): boolean {
  return `${name.owner}/${name.repo}`.toLowerCase() === fullName.toLowerCase();
}

/**
 * Returns whether the stored name is the repository's current one. GitHub redirects old names, but another repository
 * may take one over.
 */
async function isNameCurrent(place: Place): Promise<boolean> {
  const now = await readRepository(place);
  return now !== undefined && isCalled(place, now.full_name);
}

/**
 * Reads a repository. Returns undefined if we may not read it, or if another repository has its name. GitHub answers with
 * 404 both for what was deleted and for what it does not show us. So what a repository lacks is gone only if the
 * repository can be read.
 */
export async function readRepository({ octokit, name, repository }: Omit<Place, 'installationId'>) {
  try {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}', name);
    return [Number(data.id), null].includes(repository.githubId) ? data : undefined;
  } catch (error) {
    if (isRefusedWith(error, 403, 404, 451)) return undefined;
    throw error;
  }
}

/**
 * Finds a connected repository and creates the client for it. Returns undefined when the installation of its project
 * does not cover it.
 */
export async function placeOfRepository(app: App, repositoryId: string): Promise<Place | undefined> {
  const row = await findRepository(app.db.manager, repositoryId);
  if (row === null || !row.isInstalled) return undefined;
  const installationId = await findActiveInstallationOf(app.db.manager, row.projectId);
  return installationId === undefined ? undefined : placeAt(app, row, installationId);
}

async function placeAt(app: App, repository: RepositoryRow, installationId: number): Promise<Place | undefined> {
  const name = nameOnGitHub(app, repository.url);
  if (name === undefined || app.github === undefined) return undefined;
  return { octokit: await app.github.asInstallation(installationId), installationId, name, repository };
}

/** Returns the HTTP status of a failed request; 0 when the error has none. */
export function httpStatusOf(error: unknown): number {
  return (error as { status?: number }).status ?? 0;
}

/** An issue or pull request, in the form that GitHub's routes about issues expect. */
export interface IssueRef {
  owner: string;
  repo: string;
  issue_number: number;
}

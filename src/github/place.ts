import type { App, Octokit } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { nameOnGitHub } from '../repositories/credentials.ts';
import { findRepository } from '../repositories/store.ts';
import { observeInstallation } from './app/installation.ts';
import { findActiveInstallationOf, findInstalledRepository } from './store.ts';

/** A repository that an installation serves, with what speaks to it. */
export interface Place {
  octokit: Octokit;
  installationId: number;
  name: { owner: string; repo: string };
  repository: RepositoryRow;
}

/**
 * Where an event happened; undefined when no installation of ours covers it. An event that tells another name of the
 * repository than the stored one is older or newer than it, so GitHub is asked which name leads there.
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
  const told = repository.full_name;
  if (place === undefined || told === undefined || isCalled(place, told) || (await leadsThere(place))) return place;
  await observeInstallation(app, installation.id);
  return find();
}

function isCalled({ name }: Place, fullName: string): boolean {
  return `${name.owner}/${name.repo}`.toLowerCase() === fullName.toLowerCase();
}

/** Whether the stored name is the repository's own and not one that GitHub forwards, or that another one took over. */
async function leadsThere(place: Place): Promise<boolean> {
  try {
    const { data } = await place.octokit.request('GET /repos/{owner}/{repo}', place.name);
    return Number(data.id) === place.repository.githubId && isCalled(place, data.full_name);
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

/** A connected repository of a project whose own installation covers it. */
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

export function statusOf(error: unknown): number {
  return (error as { status?: number }).status ?? 0;
}

import type { App, Octokit } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { nameOnGitHub } from '../repositories/credentials.ts';
import { findRepository } from '../repositories/store.ts';
import { findActiveInstallationOf, findInstalledRepository } from './store.ts';

/** A repository that an installation serves, with what speaks to it. */
export interface Place {
  octokit: Octokit;
  installationId: number;
  name: { owner: string; repo: string };
  repository: RepositoryRow;
}

/** Where an event happened; undefined when it is none of ours. */
export async function placeOfEvent(
  app: App,
  installation: { id: number } | undefined,
  repository: { id: number } | undefined,
): Promise<Place | undefined> {
  if (installation === undefined || repository === undefined) return undefined;
  const row = await findInstalledRepository(app.db.manager, installation.id, repository.id);
  return row && placeAt(app, row, installation.id);
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

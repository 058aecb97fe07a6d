import type { App } from '../../app.ts';
import { findInstallation } from '../store.ts';
import { observeInstallation } from './installation.ts';
import { followDefaultBranch } from './installation-store.ts';

interface RepositoryEvent {
  action: string;
  installation?: { id: number } | undefined;
  repository: { id: number; default_branch?: string };
  changes?: object;
}

/**
 * Handles a repository that was renamed, transferred, archived, deleted, made public or private, or got another default
 * branch. Reads the installation again, which finds the repository by its number.
 */
export async function followRepository(app: App, payload: RepositoryEvent): Promise<void> {
  if (payload.installation === undefined || app.github === undefined) return;
  const em = app.db.manager;
  const known = await findInstallation(em, payload.installation.id);
  if (known === null || known.projectId === null) return;
  const before = (payload.changes as { default_branch?: { from: string } } | undefined)?.default_branch?.from;
  const { id: githubId, default_branch: now } = payload.repository;
  // The new default branch is stored only where the previous one was, because people may have chosen another branch
  // here.
  if (before !== undefined && now !== undefined)
    await followDefaultBranch(em, { projectId: known.projectId, githubId, before, now });
  await observeInstallation(app, payload.installation.id);
}

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
 * A repository was renamed, transferred, archived, deleted, made public or private, or got another default branch. The
 * installation is read again, which finds the repository by its number.
 */
export async function followRepository(app: App, payload: RepositoryEvent): Promise<void> {
  if (payload.installation === undefined || app.github === undefined) return;
  const em = app.db.manager;
  const known = await findInstallation(em, payload.installation.id);
  if (known === null || known.projectId === null) return;
  const before = (payload.changes as { default_branch?: { from: string } } | undefined)?.default_branch?.from;
  const { id: githubId, default_branch: now } = payload.repository;
  // GitHub's change counts only for repositories that still have the branch it changed from.
  if (before !== undefined && now !== undefined)
    await followDefaultBranch(em, { projectId: known.projectId, githubId, before, now });
  await observeInstallation(app, payload.installation.id);
}

import type { App } from '../../app.ts';
import { Repositories } from '../../db/tables.ts';
import { findInstallation } from '../store.ts';
import { observeInstallation } from './installation.ts';

interface RepositoryEvent {
  action: string;
  installation?: { id: number } | undefined;
  repository: { id: number; default_branch?: string };
  changes?: object;
}

/**
 * A repository was renamed, transferred, archived, deleted, made public or private, or has another default branch: the
 * installation is read anew, which finds it by its number.
 */
export async function followRepository(app: App, payload: RepositoryEvent): Promise<void> {
  if (payload.installation === undefined || app.github === undefined) return;
  const em = app.db.manager;
  const known = await findInstallation(em, payload.installation.id);
  if (known === null || known.projectId === null) return;
  const before = (payload.changes as { default_branch?: { from: string } } | undefined)?.default_branch?.from;
  const now = payload.repository.default_branch;
  // Whoever set another branch here by hand keeps it.
  if (before !== undefined && now !== undefined)
    await em.update(
      Repositories,
      { projectId: known.projectId, githubId: payload.repository.id, defaultBranch: before },
      { defaultBranch: now },
    );
  await observeInstallation(app, payload.installation.id);
}

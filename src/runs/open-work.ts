import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { remoteSeconds } from '../git/engine.ts';
import { revealSecret } from '../projects/secrets.ts';
import { credentialFor, remoteFor } from '../repositories/credentials.ts';
import type { Assignment } from './agent/assignment.ts';
import { type Journal, stepOf } from './lease/journal.ts';
import type { Patience } from './publish/patience.ts';
import { noSettings, readSettings } from '../repositories/settings/repository-settings.ts';
import type { Work } from './work.ts';
import { openWorkspace, type Signals } from './workspace/workspace.ts';

/** Minimum time limit for one git operation. Even a run limited to seconds has to clone. */
const leastSeconds = 60;

/** What all repositories of a run share. */
export interface Shared {
  journal: Journal;
  signals: Signals;
  patience: Patience;
}

/** Opens a repository for a run: its files, its branch, its settings and a credential. */
export async function openWork(app: App, given: Assignment, repository: RepositoryRow, shared: Shared): Promise<Work> {
  const { run } = given;
  const { journal, signals, patience } = shared;
  const credential = await credentialFor(app, repository);
  // No git operation may take longer than the whole run.
  const limitSeconds = Math.min(remoteSeconds, Math.max(leastSeconds, given.limits.runMinutes.value * 60));
  const remote = { ...(await remoteFor(app, repository, credential, { contents: 'write' })), limitSeconds };
  const workspace = await openWorkspace(app, run, journal, { ...given, repository, remote, signals });
  try {
    const stored = await journal.once(stepOf('settings', given.task, repository), () =>
      readSettings(workspace.checkout, workspace.baseHead),
    );
    // Settings that an older version stored lack the newer keys.
    const settings = { ...noSettings, ...stored };
    const modelToken = await revealSecret(app, run.projectId, 'model_token');
    const secrets = [remote.token, modelToken, ...app.ownSecrets()].filter((s) => s !== undefined);
    return {
      ...given,
      ...workspace,
      tokenEndsAt: remote.tokenEndsAt,
      repository,
      credential,
      journal,
      secrets,
      patience,
      signal: signals.git,
      settings,
      also: [],
    };
  } catch (error) {
    await workspace.remove();
    throw error;
  }
}

/**
 * A token must last at least this long for the steps that follow. Installation tokens expire after an hour, possibly
 * during a run.
 */
const spareMs = 10 * 60_000;

/** Gets a new token for git if the current one is about to expire. */
export async function refreshRemote(app: App, work: Work): Promise<void> {
  if (work.tokenEndsAt === undefined || work.tokenEndsAt.getTime() - Date.now() > spareMs) return;
  const renewed = () => remoteFor(app, work.repository, work.credential, { contents: 'write' });
  const { token, tokenEndsAt } = await work.patience(renewed);
  await work.checkout.renewToken(token);
  work.tokenEndsAt = tokenEndsAt;
  if (token !== undefined) work.secrets.push(token);
}

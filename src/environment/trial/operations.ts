import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { violatedUnique } from '../../db/database.ts';
import { newId } from '../../db/ids.ts';
import type { EnvironmentTrialRow } from '../../db/tables/environment.ts';
import { Refused } from '../../domain/machine.ts';
import { notFound } from '../../errors.ts';
import { deleteOldTrials, failLostTrials, findLastTrial, insertTrial } from './store.ts';

/** A trial whose worker has not reported for this long counts as lost. The time limit of a trial is shorter. */
const lostMs = 3_600_000;
const lostText = 'the worker of this trial was lost; start another one';

/** Trials that are kept for each repository. */
const keptTrials = 10;

/** Who asked for a trial. */
export interface TrialRequest {
  repositoryId: string;
  /** The issue or pull request that gets the result. */
  issueNumber?: number | undefined;
  /** Runs in the transaction that starts the trial. */
  also?: ((em: EntityManager) => Promise<void>) | undefined;
}

/**
 * Starts a trial of set-up and checks on the default branch, without an agent. A job runs it.
 * @throws Refused while one runs
 */
export async function startTrial(
  app: App,
  { repositoryId, issueNumber, also }: TrialRequest,
): Promise<Pick<EnvironmentTrialRow, 'id' | 'status'>> {
  const id = newId('trial');
  try {
    return await app.db.transaction(async (em) => {
      await failLostTrials(em, new Date(Date.now() - lostMs), lostText);
      await deleteOldTrials(em, repositoryId, keptTrials - 1);
      await insertTrial(em, { id, repositoryId, issueNumber: issueNumber ?? null });
      await also?.(em);
      await app.queue.send(em, 'trial', { trialId: id });
      return { id, status: 'running' as const };
    });
  } catch (error) {
    if (violatedUnique(error) !== 'environment_trials_running') throw error;
    throw new Refused('A trial of this repository is running. Wait until it has ended.');
  }
}

/** Returns the last trial of a repository. @throws AppError 404 before the first */
export async function getTrial(
  app: App,
  repositoryId: string,
): Promise<EnvironmentTrialRow & { setupCommands: number }> {
  const found = await findLastTrial(app.db.manager, repositoryId);
  if (found === null) throw notFound('Trial of the environment of repository', repositoryId);
  return { ...found, setupCommands: found.commands.filter(({ isCheck }) => !isCheck).length };
}

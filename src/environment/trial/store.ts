import { type EntityManager, LessThan } from 'typeorm';
import { type EnvironmentTrialRow, EnvironmentTrials } from '../../db/tables/environment.ts';

export async function insertTrial(
  em: EntityManager,
  row: Pick<EnvironmentTrialRow, 'id' | 'repositoryId' | 'issueNumber'>,
): Promise<void> {
  await em.insert(EnvironmentTrials, { ...row, status: 'running', commands: [], refusedHosts: [] });
}

export function findTrial(em: EntityManager, id: string): Promise<EnvironmentTrialRow | null> {
  return em.findOneBy(EnvironmentTrials, { id });
}

/** Returns the last trial of a repository. */
export function findLastTrial(em: EntityManager, repositoryId: string): Promise<EnvironmentTrialRow | null> {
  return em.findOne(EnvironmentTrials, { where: { repositoryId }, order: { startedAt: 'DESC', id: 'DESC' } });
}

/** Stores the progress of a running trial. Returns false if the trial is no longer running. */
export async function updateTrial(
  em: EntityManager,
  id: string,
  change: Partial<Omit<EnvironmentTrialRow, 'id' | 'repositoryId'>>,
): Promise<boolean> {
  const { affected } = await em.update(EnvironmentTrials, { id, status: 'running' }, { ...change, seenAt: new Date() });
  return affected === 1;
}

/** Ends running trials whose workers have not reported since a point in time. */
export async function failLostTrials(em: EntityManager, since: Date, problem: string): Promise<void> {
  const lost = { status: 'running' as const, seenAt: LessThan(since) };
  await em.update(EnvironmentTrials, lost, { status: 'failed', finishedAt: new Date(), problem });
}

/** Deletes all trials of a repository but its last ones. */
export async function deleteOldTrials(em: EntityManager, repositoryId: string, kept: number): Promise<void> {
  await em.query(
    `delete from environment_trials where repository_id = $1 and status <> 'running' and id not in (
       select id from environment_trials where repository_id = $1 order by started_at desc, id desc limit $2)`,
    [repositoryId, kept],
  );
}

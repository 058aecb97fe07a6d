import type { EntityManager } from 'typeorm';
import { isInRollout } from '../../domain/learning/comparison.ts';

interface RolloutFacts {
  /** The version before the owner; null when the owner is the first version, or has been replaced. */
  previousId: string | null;
  rollout: number;
  /** The agent of the task's latest run; null before the first. */
  workedId: string | null;
}

/** Returns what decides which version of its owner works on a task; undefined if the owner was deleted. */
async function findRolloutFacts(em: EntityManager, ownerId: string, taskId: string): Promise<RolloutFacts | undefined> {
  const [facts]: RolloutFacts[] = await em.query(
    `select case when a.is_newest then a.previous_version_id end as "previousId", a.rollout,
       (select r.agent_id from runs r where r.task_id = $2 order by r.created_at desc, r.id desc limit 1) as "workedId"
     from agents a where a.id = $1`,
    [ownerId, taskId],
  );
  return facts;
}

/** A task, and its parent if it is a subtask. */
interface Work {
  id: string;
  parentId: string | null;
}

/**
 * Returns the version of its owner that a task's next run belongs to. While a new version is rolled out to a share of
 * tasks, the version before it takes the others. A task stays with the version that worked on it, and a subtask goes
 * with its parent.
 */
export async function versionForTask(em: EntityManager, ownerId: string, task: Work): Promise<string> {
  const facts = await findRolloutFacts(em, ownerId, task.id);
  if (facts === undefined || facts.previousId === null || facts.rollout === 100) return ownerId;
  const { previousId, rollout, workedId } = facts;
  if (rollout === 0) return previousId;
  if (workedId === ownerId || workedId === previousId) return workedId;
  return isInRollout(ownerId, task.parentId ?? task.id, rollout) ? ownerId : previousId;
}

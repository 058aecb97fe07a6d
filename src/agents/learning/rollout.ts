import type { EntityManager } from 'typeorm';
import { isInRollout } from '../../domain/learning/rollout.ts';
import { findRolloutFacts } from './rollout-store.ts';

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
  const { previousId, rollout, workedId } = await findRolloutFacts(em, ownerId, task.id);
  if (previousId === null || rollout === 100) return ownerId;
  if (rollout === 0) return previousId;
  if (workedId === ownerId || workedId === previousId) return workedId;
  return isInRollout(ownerId, task.parentId ?? task.id, rollout) ? ownerId : previousId;
}

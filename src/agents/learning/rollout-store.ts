import type { EntityManager } from 'typeorm';

interface RolloutFacts {
  /** The version before the owner; null when the owner is the first version, or has been replaced. */
  previousId: string | null;
  rollout: number;
  /** The agent of the task's latest run; null before the first. */
  workedId: string | null;
}

/** Returns what decides which version of its owner works on a task. */
export async function findRolloutFacts(em: EntityManager, ownerId: string, taskId: string): Promise<RolloutFacts> {
  const [facts] = await em.query(
    `select case when a.is_newest then a.previous_version_id end as "previousId", a.rollout,
       (select r.agent_id from runs r where r.task_id = $2 order by r.created_at desc, r.id desc limit 1) as "workedId"
     from agents a where a.id = $1`,
    [ownerId, taskId],
  );
  return facts;
}

import type { EntityManager } from 'typeorm';
import { type Limits, limitsInBudget, lowerLimits, type RunBudget } from '../domain/budget.ts';

/**
 * Lowers limits by the budget that a task has now. A subtask that a model created also has the limits of its parent,
 * so that an agent cannot leave its budget by splitting its task.
 */
export async function lowerByTask(em: EntityManager, taskId: string, limits: Limits): Promise<Limits> {
  const rows: { budget: RunBudget }[] = await em.query(
    `select b.budget from tasks t left join tasks p on p.id = t.parent_id and t.created_by is null
       cross join lateral (values (t.budget), (p.budget)) b (budget)
     where t.id = $1 and b.budget is not null`,
    [taskId],
  );
  return rows.reduce((lowered, { budget }) => lowerLimits(lowered, 'task', limitsInBudget(budget)), limits);
}

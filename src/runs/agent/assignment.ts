import { modelOfRun } from '../../agents/model.ts';
import { findAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import type { AgentRow, RepositoryRow } from '../../db/tables/project.ts';
import type { RunRow } from '../../db/tables/task.ts';
import type { Limits } from '../../domain/budget.ts';
import { RunFailed } from '../../domain/run.ts';
import { payingForLost } from '../../llm/lost.ts';
import type { Model } from '../../llm/model.ts';
import { costOf } from '../../llm/pricing.ts';
import { limitsOf } from '../../projects/budgets.ts';
import { findRepository } from '../../repositories/store.ts';
import { getTask, type TaskView } from '../../tasks/store.ts';
import { addLostUsage } from '../store.ts';

/** Everything that a run needs, read when its worker begins. */
export interface Assignment {
  run: RunRow;
  task: TaskView;
  agent: AgentRow;
  model: Model;
  repository: RepositoryRow;
  limits: Limits;
}

export interface Limited extends Assignment {
  /** Returns the limits that apply to the next turn. People may change the budget of a task during a run. */
  limitsNow(): Promise<Limits>;
}

/**
 * Reads everything that a run needs.
 * @throws RunFailed when something was deleted or disconnected since the run was queued
 */
export async function findAssignment(app: App, run: RunRow): Promise<Assignment> {
  const em = app.db.manager;
  const task = await getTask(em, run.taskId);
  const agent = run.agentId === null ? null : await findAgent(em, run.agentId);
  if (agent === null) throw new RunFailed('internal', 'the agent of this run was deleted');
  const repository = task.repositoryId === null ? null : await findRepository(em, task.repositoryId);
  if (repository === null) throw new RunFailed('repository', 'the repository of the task is no longer connected');
  const model = payingForLost(await modelOfRun(app, agent, run.projectId), async (lost) => {
    const costUsd = costOf(app.config.MODEL_PRICES, model.name, lost);
    await addLostUsage(em, run.id, { ...lost, costUsd }).catch((error) =>
      app.log.error({ err: error, runId: run.id }, 'the cost of a lost answer was not stored'),
    );
  });
  return { run, task, agent, repository, model, limits: await limitsOf(app, run.projectId) };
}

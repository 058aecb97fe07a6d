import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { comparePairs } from '../domain/lab/paired.ts';
import { type Failure, limitNote } from '../domain/run.ts';
import type { Jobs } from '../queue/names.ts';
import { cancelIfRunning } from '../runs/operations.ts';
import { insertRun } from '../runs/store.ts';
import { moveTask } from '../tasks/move.ts';
import { insertTask } from '../tasks/operations.ts';
import { setTaskFields } from '../tasks/store.ts';
import {
  countItems,
  endTrial,
  findTrialItem,
  insertTrialRun,
  listArms,
  listIdleTrials,
  listTrialRuns,
  lockRunningTrial,
  setTrialResult,
  type Trial,
  type TrialArm,
  type TrialItem,
  type TrialRun,
} from './trial-store.ts';
import { costOfRuns, pairsOf } from './trial-view.ts';

/**
 * Handles the `agentTrial` job: queues the runs of the next item once those of the last one have ended, or ends the trial. It
 * may be handled at any time.
 */
export async function advanceTrial(app: App, { agentTrialId }: Jobs['agentTrial']): Promise<void> {
  await app.db.transaction(async (em) => {
    const trial = await lockRunningTrial(em, agentTrialId);
    if (trial === undefined) return;
    await settle(em, trial.id);
    const runs = await listTrialRuns(em, [trial.id]);
    if (runs.some(({ result }) => result === null)) return;
    const arms = await listArms(em, [trial.id]);
    const planned = (await countItems(em, [trial.id])).get(trial.id) ?? 0;
    const ending = endingOf(trial, { runs, planned, arms: arms.length });
    if (ending !== undefined) return endTrial(em, trial.id, ending.status, ending.reason);
    const item = await findTrialItem(em, trial.id, (runs.at(-1)?.place ?? 0) + 1);
    if (item === undefined) return endTrial(em, trial.id, 'done', 'Every item was tried.');
    await queueItem(app, em, trial, { item, arms, left: trial.budgetUsd - (costOfRuns(runs) ?? 0) });
  });
}

/** Looks at the trials to which nothing happens, because a job was lost or a run was cancelled. */
export async function wakeTrials(app: App): Promise<void> {
  for (const { id, projectId } of await listIdleTrials(app.db.manager))
    await app.queue.send(undefined, 'agentTrial', { projectId, agentTrialId: id }, { key: id, unlessWaiting: true });
}

/** Queues the job that looks at a trial. */
export async function queueTrialJob(
  app: App,
  em: EntityManager,
  { trialId, projectId }: { trialId: string; projectId: string },
): Promise<void> {
  await app.queue.send(em, 'agentTrial', { projectId, agentTrialId: trialId }, { key: trialId });
}

/** Ends a trial and cancels its runs. What they have solved until now counts. Returns whether it was running. */
export async function cancelTrial(app: App, trialId: string): Promise<boolean> {
  const trial = await app.db.transaction(async (em) => {
    const found = await lockRunningTrial(em, trialId);
    if (found === undefined) return undefined;
    await endTrial(em, trialId, 'cancelled', 'Somebody cancelled it.');
    app.audit.note({ trial: [trialId, null] });
    return found;
  });
  if (trial === undefined) return false;
  const live = (await listTrialRuns(app.db.manager, [trialId])).filter(({ result }) => result === null);
  for (const { taskId } of live) await cancelIfRunning(app, taskId);
  await app.db.transaction((em) => settle(em, trialId));
  return true;
}

/** Stores the results of runs that ended without one: they were cancelled. */
async function settle(em: EntityManager, trialId: string): Promise<void> {
  for (const { runId, result, status, failure } of await listTrialRuns(em, [trialId])) {
    if (result !== null || !['succeeded', 'failed', 'cancelled'].includes(status)) continue;
    await setTrialResult(em, runId, { result: 'error', reason: failure?.message ?? 'The run was cancelled.' });
  }
}

/** A trial ends when this many items in a row could not be tried. */
const maxErrors = 3;

interface Progress {
  runs: TrialRun[];
  planned: number;
  arms: number;
}

/** Returns why a trial ends; undefined while it goes on. No run of it is live. */
function endingOf(
  { budgetUsd }: Pick<Trial, 'budgetUsd'>,
  { runs, planned, arms }: Progress,
): { status: 'done' | 'failed'; reason: string } | undefined {
  const places = [...Map.groupBy(runs, ({ place }) => place).values()];
  const last = places.slice(-maxErrors);
  const failing = last.map((both) => both.find(({ result }) => result === 'error'));
  if (runs.some(({ failure }) => failure !== null && isOfTrial(failure)) || (costOfRuns(runs) ?? 0) >= budgetUsd)
    return { status: 'done', reason: `The budget of $${budgetUsd} is used up.` };
  if (last.length === maxErrors && failing.every((run) => run !== undefined))
    return {
      status: 'failed',
      reason: `${maxErrors} items in a row could not be tried. The last time: ${failing.at(-1)?.reason ?? 'an error'}`,
    };
  if (arms > 1) {
    const { verdict } = comparePairs(pairsOf(runs), { planned, isOver: false });
    if (verdict !== 'open') return { status: 'done', reason: 'The difference is clear.' };
  }
  return places.length >= planned ? { status: 'done', reason: 'Every item was tried.' } : undefined;
}

/** Whether a failure comes from the budget of the trial, which its runs have as the budget of their tasks. */
export function isOfTrial({ category, message }: Pick<Failure, 'category' | 'message'>): boolean {
  return category === 'budget' && message.includes(limitNote('task'));
}

/** Queues a run of each arm for an item. Each gets a hidden task, whose budget is its share of what is left. */
async function queueItem(
  app: App,
  em: EntityManager,
  trial: Trial,
  { item, arms, left }: { item: TrialItem; arms: TrialArm[]; left: number },
): Promise<void> {
  const { projectId, startedBy } = trial;
  for (const { arm, agentId } of arms) {
    const taskId = await insertTask(app, em, projectId, {
      title: item.title,
      description: item.text,
      status: 'ready',
      owner: agentId,
      repositoryId: trial.repositoryId,
      createdBy: startedBy,
      planFirst: false,
      hidden: true,
    });
    // Amounts have at most six decimals.
    await setTaskFields(em, taskId, {
      budget: { costUsd: Math.max(0.000001, Math.floor((left / arms.length) * 1e6) / 1e6) },
    });
    await moveTask(app, em, taskId, 'review');
    const directedBy = startedBy === null ? [] : [startedBy];
    const about = { taskId, projectId, agentId, startedBy, isAutomatic: true, directedBy, instructions: '' };
    const runId = await insertRun(em, { ...about, kind: 'trial' });
    await insertTrialRun(em, { runId, trialId: trial.id, place: item.place, arm });
  }
  await app.queue.send(em, 'run', {});
}

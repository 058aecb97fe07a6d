import type { App } from '../app.ts';
import { ModelUnavailable } from '../conversation/ending.ts';
import type { Handoff } from '../conversation/handoff.ts';
import type { RunRow } from '../db/tables/task.ts';
import type { Failure } from '../domain/run.ts';
import { ModelFailed } from '../llm/model.ts';
import { storeFailureHandoff } from '../runs/handoffs.ts';
import type { Journal } from '../runs/journal.ts';
import { endRun } from '../runs/store.ts';
import { tryMoveTask } from '../tasks/move.ts';
import { refreshRemote } from './open-work.ts';
import { changedWorks, lookUp, readTrees } from './outgoing/changes.ts';
import { objections } from './outgoing/objection.ts';
import { findUnplanned } from './plan.ts';
import { storeFailedProof } from './proof/publish-proof.ts';
import { proposeWork, pushWorks } from './publish/publish.ts';
import { StaysReady } from './publish/withdraw.ts';
import { needsApproval } from './waits.ts';
import { allWorks, type Work } from './work.ts';
import { keptStep } from './workspace/workspace.ts';

interface Failed {
  /** Undefined when the run failed before its repository was open. */
  work: Work | undefined;
  failure: Failure;
  error: unknown;
}

/** Characters kept of why a run failed, if something else has to be said too. */
const maxReasonChars = 1500;

/** Ends a run as failed: keeps its work, writes its handoff and moves its task. */
export async function endFailed(app: App, run: RunRow, journal: Journal, failed: Failed): Promise<void> {
  const { work, error } = failed;
  let { failure } = failed;
  app.log.warn({ err: error, runId: run.id, category: failure.category }, 'run failed');
  const isModelsFault =
    error instanceof ModelUnavailable || (error instanceof Error && error.cause instanceof ModelFailed);
  const isShown = ['budget', 'checks'].includes(failure.category) || (failure.category === 'model' && !isModelsFault);
  const unpushed = work === undefined ? undefined : await keepWork(app, work, failed, isShown);
  if (unpushed !== undefined && !failure.message.includes(unpushed))
    failure = { ...failure, message: `${failure.message.slice(0, maxReasonChars)}; ${unpushed}` };
  // A model that just failed is not asked for a handoff.
  const handoff = isModelsFault ? undefined : await work?.handoff?.(failure);
  await failRun(app, run, journal, failure, handoff);
}

/** Ends the run, stores its handoff and moves its task, in one transaction. */
async function failRun(
  app: App,
  run: RunRow,
  journal: Journal,
  failure: Failure,
  told: Handoff | undefined,
): Promise<void> {
  await journal.note('failed', failure.message, { category: failure.category });
  await journal.write(async (em) => {
    await storeFailureHandoff(app, em, run, failure, told);
    await endRun(em, run.id, 'failed', failure);
    await tryMoveTask(app, em, run.taskId, 'fail', { failure });
  });
  app.metrics.runs.inc({ status: 'failed', category: failure.category });
}

/**
 * Pushes the work made before the failure, unless the host refuses it. Opens a draft pull request for it if `isShown`:
 * after a used-up budget, failing checks, or a model that made no progress. Never throws, because the run's own failure
 * is the one to report. Returns what people should know if a ready pull request could not become a draft.
 */
async function keepWork(
  app: App,
  work: Work,
  { failure, error }: Failed,
  isShown: boolean,
): Promise<string | undefined> {
  // Before its plan is approved, only commands of the agent can have changed files, and those changes are discarded.
  if (work.planning?.mode === 'always') return undefined;
  try {
    if (error instanceof StaysReady) return await leaveToNextRun(work, error.message);
    if (await needsApproval(app, work)) {
      await leaveToNextRun(work, 'nothing was pushed, because a person approves pushes here');
      return undefined;
    }
    await pushUnfinished(app, work, failure, isShown);
  } catch (caught) {
    if (caught instanceof StaysReady) return leaveToNextRun(work, caught.message);
    app.log.warn({ err: caught, runId: work.run.id }, 'the work of a failed run could not be pushed');
  }
  return undefined;
}

/** Leaves the files to the next run of the task, which begins with them. Returns why. */
async function leaveToNextRun({ journal }: Work, why: string): Promise<string> {
  await journal.once(keptStep, async () => ({}));
  await journal.note('push', `${why}; the next run continues with the files`);
  return why;
}

/** @throws StaysReady */
async function pushUnfinished(app: App, work: Work, failure: Failure, isShown: boolean): Promise<void> {
  for (const each of allWorks(work)) await refreshRemote(app, each);
  const trees = await readTrees(work);
  const treeOf = lookUp(trees);
  const found = await objections(work, treeOf);
  if (found !== undefined) {
    const isKnown = failure.category === 'push_rejected' || failure.category === 'conflict';
    if (!isKnown) await work.journal.note('push', `nothing was pushed:\n${found}`);
    return;
  }
  await findUnplanned(work, treeOf);
  const changed = await changedWorks(work, treeOf);
  if (changed.length > 0) await storeFailedProof(work, changed, trees);
  const finish = { summary: `Unfinished: ${failure.message}.`, nextSteps: [] };
  await pushWorks(app, changed, `Work in progress: ${work.task.title}`, isShown);
  if (isShown) for (const each of changed) await proposeWork(app, each, finish, true);
}

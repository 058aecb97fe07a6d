import type { App } from '../app.ts';
import type { RunRow } from '../db/tables/task.ts';
import type { Failure } from '../domain/run.ts';
import { ModelFailed } from '../llm/model.ts';
import { tryMoveTask } from '../tasks/move.ts';
import type { Handoff } from './agent/handoff.ts';
import type { Journal } from './lease/journal.ts';
import { refreshRemote } from './open-work.ts';
import { changedWorks, lookUp, readTrees } from './outgoing/changes.ts';
import { objections } from './outgoing/objection.ts';
import { findUnplanned } from './outgoing/planned-files.ts';
import { storeFailedProof } from './proof/publish-proof.ts';
import { proposeWork, pushWork, withdrawReady } from './publish/publish.ts';
import { endRun } from './store.ts';
import { needsApproval } from './waiting/await-approval.ts';
import { ModelAway } from './waiting/model-away.ts';
import { allWorks, type Work } from './work.ts';
import { keptStep } from './workspace/kept-work.ts';
import { storeFailureHandoff } from './write-handoff.ts';

interface Failed {
  /** Undefined when the run failed before its repository was open. */
  work: Work | undefined;
  failure: Failure;
  error: unknown;
}

/** Ends a run as failed: keeps its work, writes its handoff and moves its task. */
export async function endFailed(app: App, run: RunRow, journal: Journal, failed: Failed): Promise<void> {
  const { work, failure, error } = failed;
  app.log.warn({ err: error, runId: run.id, category: failure.category }, 'run failed');
  const isModelsFault = error instanceof ModelAway || (error instanceof Error && error.cause instanceof ModelFailed);
  const isShown = ['budget', 'checks'].includes(failure.category) || (failure.category === 'model' && !isModelsFault);
  if (work !== undefined) await keepWork(app, work, failure, isShown);
  // A model that just failed is not asked for a handoff.
  const told = isModelsFault ? undefined : await work?.handoff?.(failure);
  await failRun(app, run, journal, failure, told);
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
 * is the one to report.
 */
async function keepWork(app: App, work: Work, failure: Failure, isShown: boolean): Promise<void> {
  // Before its plan is approved, only commands of the agent can have changed files, and those changes are discarded.
  if (work.planning?.mode === 'always') return;
  try {
    if (await needsApproval(app, work)) {
      await work.journal.once(keptStep, async () => ({}));
      const why = 'nothing was pushed, because a person approves pushes here; the next run continues with the files';
      return await work.journal.note('push', why);
    }
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
    if (changed.length > 0) await storeFailedProof(work, trees);
    const finish = { summary: `Unfinished: ${failure.message}.`, nextSteps: [] };
    for (const each of changed) {
      await pushWork(app, each, `Work in progress: ${work.task.title}`);
      if (isShown) await proposeWork(app, each, finish, true);
      else await withdrawReady(app, each, finish);
    }
  } catch (error) {
    app.log.warn({ err: error, runId: work.run.id }, 'the work of a failed run could not be pushed');
  }
}

import type { App } from '../app.ts';
import type { RunRow } from '../db/work-tables.ts';
import type { Failure } from '../domain/run.ts';
import { tryMoveTask } from '../tasks/move.ts';
import { insertHandoff } from '../tasks/work-store.ts';
import { changedWorks } from './conclude.ts';
import type { Journal } from './lease/journal.ts';
import { refreshRemote } from './open-work.ts';
import { readOnce } from './outgoing/changes.ts';
import { objections } from './outgoing/objection.ts';
import { proposeWork, pushWork } from './publish/publish.ts';
import { endRun } from './store.ts';
import { allWorks, type Work } from './work.ts';

/** Ends a run as failed and moves its task, in one transaction. */
export async function failRun(app: App, run: RunRow, journal: Journal, failure: Failure): Promise<void> {
  const summary = `The run failed (${failure.category}): ${failure.message}`;
  await journal.note('failed', failure.message, { category: failure.category });
  await journal.write(async (em) => {
    await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary, nextSteps: [] });
    await endRun(em, run.id, 'failed', failure);
    await tryMoveTask(app, em, run.taskId, 'fail', { failure });
  });
  app.metrics.runs.inc({ status: 'failed', category: failure.category });
}

/**
 * Pushes the work made before the failure, unless the host refuses it. After a used-up budget or failing checks, opens
 * a draft pull request for it. Never throws, because the run's own failure is the one to report.
 */
export async function keepWork(app: App, work: Work, failure: Failure): Promise<void> {
  try {
    for (const each of allWorks(work)) await refreshRemote(app, each);
    const treeOf = readOnce();
    const found = await objections(work, treeOf);
    if (found !== undefined) {
      const isKnown = failure.category === 'push_rejected' || failure.category === 'conflict';
      if (!isKnown) await work.journal.note('push', `nothing was pushed:\n${found}`);
      return;
    }
    const isShown = failure.category === 'budget' || failure.category === 'checks';
    for (const each of await changedWorks(work, treeOf)) {
      await pushWork(app, each, await treeOf(each), `Work in progress: ${work.task.title}`);
      if (isShown) await proposeWork(app, each, { summary: `Unfinished: ${failure.message}.`, nextSteps: [] }, true);
    }
  } catch (error) {
    app.log.warn({ err: error, runId: work.run.id }, 'the work of a failed run could not be pushed');
  }
}

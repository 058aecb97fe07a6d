import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { cancelTask } from '../../runs/operations.ts';
import { findLiveRun } from '../../runs/store.ts';

/** Cancels the queued or running run of a task, if there is one. */
export async function cancelLiveRun(app: App, taskId: string): Promise<void> {
  if ((await findLiveRun(app.db.manager, taskId)) === null) return;
  await cancelTask(app, taskId).catch((error) => {
    // The run has ended since we looked.
    if (!(error instanceof Refused)) throw error;
  });
}

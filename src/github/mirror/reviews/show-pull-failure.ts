import type { App } from '../../../app.ts';
import { remedyFor } from '../../../domain/run.ts';
import { isRefusedWith } from '../../../outgoing/github-errors.ts';
import { refusalsIn } from '../../../repositories/rights.ts';
import { findPullOfHidden } from '../../../runs/reviewing/store.ts';
import { findTask } from '../../../tasks/store.ts';
import { placeOfRepository } from '../../app/place.ts';
import { reply } from '../../comments.ts';

/** Says on a pull request of somebody else why its review or its fix failed, in the comment for refused commands. */
export async function showPullFailure(app: App, taskId: string): Promise<void> {
  const em = app.db.manager;
  const task = await findTask(em, taskId);
  if (!task?.hidden || task.failure === null) return;
  const pull = await findPullOfHidden(em, taskId);
  const place = pull && (await placeOfRepository(app, pull.repositoryId));
  // The check run of a proof says how it failed.
  if (pull === undefined || place === undefined || pull.kind === 'prove') return;
  const what = pull.kind === 'fix' ? 'fix' : 'review';
  const told = await refusalsIn(em, place.repository);
  const text = `😕 The ${what} of ${pull.headSha.slice(0, 7)} failed: ${told(task.failure.message)}\n\n${remedyFor(task.failure)}`;
  await reply(app, place.octokit, { ...place.name, issue_number: pull.number }, text).catch((error) => {
    // The pull request was deleted, or its conversation is locked.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
  });
}

import type { App } from '../../app.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { refusalsIn } from '../../repositories/rights.ts';
import { showTask } from '../../tasks/move.ts';
import type { Place } from '../place.ts';
import { setNotice } from '../store.ts';
import { taskOfPlace } from './given-command.ts';
import { deleteReply, reply } from './replies.ts';

/** Shows text in the status comment. Without a status comment, shows it in a reply, which later calls edit. */
export async function postNotice(
  app: App,
  { octokit, name, repository }: Place,
  issue: { number: number; isPull: boolean },
  text: string,
): Promise<void> {
  const taskId = await taskOfPlace(app, repository.id, issue.number, issue.isPull);
  if (taskId !== undefined) {
    await setNotice(app.db.manager, taskId, repository.id, issue.number, text);
    await showTask(app, undefined, taskId);
  } else if (text !== '') {
    const shown = (await refusalsIn(app.db.manager, repository))(text);
    await reply(app, octokit, { ...name, issue_number: issue.number }, shown).catch((error) => {
      // The issue was locked or deleted, so no comment can be written.
      if (!isRefusedWith(error, 403, 404, 410)) throw error;
    });
  }
}

/** Deletes the reply to an earlier command on an issue without a task. */
export async function removeReply(app: App, { octokit, name }: Place, { number }: { number: number }): Promise<void> {
  await deleteReply(app, octokit, { ...name, issue_number: number }).catch((error) => {
    // The issue was locked or deleted.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
  });
}

import type { App } from '../../app.ts';
import type { PullRequestRow } from '../../db/tables/task.ts';
import { Refused } from '../../domain/machine.ts';
import { AppError } from '../../errors.ts';
import { reviseTask } from '../../runs/operations.ts';
import { queueMirror } from '../../tasks/move.ts';
import { countRevisions, listLatestRuns, type RevisionSource } from '../../tasks/work-store.ts';
import { setNotice } from '../store.ts';

interface Unasked {
  source: Extract<RevisionSource, 'checks' | 'conflict'>;
  /** Identifies what happened on this pull request. Each cause starts at most one revision. */
  cause: string;
  text: string;
  /** What people read of it. The default is `text`. */
  words?: string;
  /** At most this many revisions of one pull request. After that, people see the text in `tooOften` instead. */
  most: number;
  tooOften: string;
}

/** Starts a revision that nobody asked for, because checks failed or the pull request conflicts with its base. */
export async function reviseUnasked(app: App, pull: PullRequestRow, about: Unasked): Promise<void> {
  const { taskId, repositoryId, number } = pull;
  const em = app.db.manager;
  const begin = `${about.source}/${repositoryId}/${number}/`;
  const cause = begin + about.cause;
  if ((await countRevisions(em, taskId, about.source, cause)) > 0) return;
  if ((await countRevisions(em, taskId, about.source, begin)) >= about.most) {
    await setNotice(em, taskId, repositoryId, number, about.tooOften);
    return queueMirror(app, undefined, taskId);
  }
  // After a failed or cancelled run, only a person starts the next one.
  const [latest] = await listLatestRuns(em, taskId, 1);
  if (latest?.status === 'failed' || latest?.status === 'cancelled') return;
  try {
    const { source, text, words } = about;
    const repositoryIds = [repositoryId];
    await reviseTask(app, { taskId, source, cause, text, ...(words && { words }), askedBy: null, repositoryIds });
  } catch (error) {
    // The task is not in review, or a credential is missing. A person has to act first.
    if (!(error instanceof Refused || (error instanceof AppError && error.status === 503))) throw error;
    app.log.info({ taskId, reason: error.message }, `no revision was started (${about.source})`);
  }
}

import type { App } from '../../app.ts';
import type { PullRequestRow } from '../../db/work-tables.ts';
import { Refused } from '../../domain/machine.ts';
import { AppError } from '../../errors.ts';
import { reviseTask } from '../../runs/operations.ts';
import { listRuns } from '../../runs/store.ts';
import { showTask } from '../../tasks/move.ts';
import { countRevisions, type RevisionSource } from '../../tasks/revision-store.ts';
import { setNotice } from '../mirror/mirror-store.ts';

interface Unasked {
  source: Extract<RevisionSource, 'checks' | 'conflict'>;
  /** Names what happened on this pull request; the same is taken once. */
  cause: string;
  text: string;
  /** So often for one pull request; then a person is asked, once. */
  most: number;
  tooOften: string;
}

/** A revision that nobody asked for in words: checks fail, or the base has moved. */
export async function reviseUnasked(app: App, pull: PullRequestRow, about: Unasked): Promise<void> {
  const { taskId, repositoryId, number } = pull;
  const em = app.db.manager;
  const begin = `${about.source}/${repositoryId}/${number}/`;
  const cause = begin + about.cause;
  if ((await countRevisions(em, taskId, about.source, cause)) > 0) return;
  if ((await countRevisions(em, taskId, about.source, begin)) >= about.most) {
    await setNotice(em, taskId, repositoryId, number, about.tooOften);
    return showTask(app, undefined, taskId);
  }
  // What failed or was cancelled is begun again by people only.
  const [latest] = await listRuns(em, taskId, { limit: 1, offset: 0 });
  if (latest?.status === 'failed' || latest?.status === 'cancelled') return;
  try {
    await reviseTask(app, { taskId, source: about.source, cause, text: about.text, askedBy: null });
  } catch (error) {
    // Not in review, or nothing to work with: then there is nothing to revise by itself.
    if (!(error instanceof Refused || (error instanceof AppError && error.status === 503))) throw error;
    app.log.info({ taskId, reason: error.message }, `no revision for ${about.source}`);
  }
}

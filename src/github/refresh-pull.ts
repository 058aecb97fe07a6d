import type { App, Octokit } from '../app.ts';
import { type PullRequestRow, PullRequests } from '../db/work-tables.ts';
import { Refused } from '../domain/machine.ts';
import type { TaskEvent } from '../domain/task.ts';
import { cancelTask } from '../runs/operations.ts';
import { refreshDiff } from '../runs/refresh-diff.ts';
import { findLiveRun } from '../runs/store.ts';
import { showTask, tryMoveTask } from '../tasks/move.ts';
import { pullStatus } from './pulls.ts';

/**
 * Reads a pull request and brings its task to where it belongs: merged finishes, closed closes, reopened reopens. The
 * event that made us look carries no state, so lost, doubled and late ones do no harm.
 */
export async function refreshPull(
  app: App,
  octokit: Octokit,
  name: { owner: string; repo: string },
  stored: PullRequestRow,
) {
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
    ...name,
    pull_number: stored.number,
  });
  const status = pullStatus(data);
  const isSettled = status === 'merged' || status === 'closed';
  if (isSettled && status !== stored.status) await stopRunOf(app, stored.taskId);
  await app.db.transaction(async (em) => {
    const key = { repositoryId: stored.repositoryId, number: stored.number };
    const before = await em.findOneOrFail(PullRequests, { where: key, lock: { mode: 'pessimistic_write' } });
    await em.update(PullRequests, key, {
      status,
      headSha: data.head.sha,
      additions: data.additions,
      mergedAt: data.merged_at === null ? null : new Date(data.merged_at),
      // What is reopened counts again (decisions, section 5).
      counts: before.counts || !isSettled,
    });
    const event = eventOf(before.status, status);
    if (event !== undefined) await tryMoveTask(app, em, stored.taskId, event);
    await showTask(app, em, stored.taskId);
  });
  if (!isSettled && data.head.sha !== stored.headSha) await refreshDiff(app, stored.taskId, data.head.sha);
  return status;
}

function eventOf(before: PullRequestRow['status'], now: PullRequestRow['status']): TaskEvent | undefined {
  if (now === 'merged') return 'finish';
  if (now === 'closed') return 'close';
  return before === 'closed' ? 'reopen' : undefined;
}

async function stopRunOf(app: App, taskId: string): Promise<void> {
  if ((await findLiveRun(app.db.manager, taskId)) === null) return;
  await cancelTask(app, taskId).catch((error) => {
    // It ended by itself meanwhile.
    if (!(error instanceof Refused)) throw error;
  });
}

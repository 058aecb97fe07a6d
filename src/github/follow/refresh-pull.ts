import type { App, Octokit } from '../../app.ts';
import { type PullRequestRow, PullRequests } from '../../db/work-tables.ts';
import type { TaskEvent } from '../../domain/task.ts';
import { pullStatus } from '../../repositories/pulls.ts';
import { cancelIfRunning } from '../../runs/operations.ts';
import { refreshDiff } from '../../runs/publish/refresh-diff.ts';
import { showTask, tryMoveTask } from '../../tasks/move.ts';
import { placeOfRepository } from '../place.ts';
import { lookForConflict } from './conflicts.ts';

/**
 * Reads a pull request and brings its task to where it belongs: merged finishes, closed closes, reopened reopens. The
 * event that made us look carries no state, so lost, doubled and late ones do no harm.
 */
export async function refreshPull(app: App, octokit: Octokit, name: Name, { repositoryId, number }: PullRequestRow) {
  // Who reads later must not be overtaken by who read before, so reading and writing are one turn.
  return app.db.turn(`pull ${repositoryId}#${number}`, async () => {
    const stored = await app.db.manager.findOneByOrFail(PullRequests, { repositoryId, number });
    return readAndSettle(app, octokit, name, stored);
  });
}

interface Name {
  owner: string;
  repo: string;
}

async function readAndSettle(app: App, octokit: Octokit, name: Name, stored: PullRequestRow) {
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
    ...name,
    pull_number: stored.number,
  });
  const status = pullStatus(data);
  const isSettled = status === 'merged' || status === 'closed';
  if (isSettled && status !== stored.status) await cancelIfRunning(app, stored.taskId);
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
    for (const event of eventsOf(before.status, status)) await tryMoveTask(app, em, stored.taskId, event);
    await showTask(app, em, stored.taskId);
  });
  if (!isSettled) {
    await refreshDiff(app, stored.taskId, data.head.sha);
    await lookForConflict(app, stored, data);
  }
  return status;
}

/** Reads every pull request of a task that may still change. */
export async function refreshPullsOf(app: App, taskId: string): Promise<void> {
  const pulls = await app.db.manager.findBy(PullRequests, { taskId });
  for (const pull of pulls) {
    if (pull.status === 'merged') continue;
    const place = await placeOfRepository(app, pull.repositoryId);
    if (place !== undefined) await refreshPull(app, place.octokit, place.name, pull);
  }
}

/** The handler of the `pull` job. */
export async function refreshPullJob(app: App, at: { repositoryId: string; number: number }): Promise<void> {
  const stored = await app.db.manager.findOneBy(PullRequests, at);
  const place = stored && (await placeOfRepository(app, at.repositoryId));
  if (stored && place) await refreshPull(app, place.octokit, place.name, stored);
}

/** One that was closed before says nothing new, least of all to the run that follows it. */
function eventsOf(before: PullRequestRow['status'], now: PullRequestRow['status']): TaskEvent[] {
  if (now === 'merged') return ['finish'];
  // The last open one closed beside a merged one finishes the task.
  if (now === 'closed') return before === 'closed' ? [] : ['close', 'finish'];
  return before === 'closed' ? ['reopen'] : [];
}

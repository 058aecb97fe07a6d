import type { App } from '../../app.ts';
import { recheckTask, showTask } from '../../tasks/move.ts';
import { findTask } from '../../tasks/store.ts';
import { type Reconciliation, reconcile } from '../../worker/lease/reconcile.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { labelChanged, labellerOf } from '../commands/labels.ts';
import { eachApart } from '../each-apart.ts';
import { lookAtChecks } from '../follow/checks.ts';
import { observeIssue } from '../follow/issues.ts';
import { refreshPull } from '../follow/refresh-pull.ts';
import { takeReview } from '../follow/reviews.ts';
import { labelOf } from '../labels.ts';
import { syncMilestones } from '../mirror/milestones.ts';
import { listOpenWork, listRepositoriesOf, listUnsettledPulls, markCompared, type OpenWork } from '../store.ts';
import { catchUp } from './catch-up.ts';

type Recovered = Reconciliation['recovered'];

/**
 * Compares tasks with GitHub, because events may have been lost, then recovers stuck tasks and runs. Covers the
 * projects of a user, or all projects if `userId` is null. A lock lets one call run at a time. Whatever fails because
 * GitHub does not respond is left to the next call.
 */
export async function reconcileAll(
  app: App,
  trigger: Reconciliation['trigger'],
  userId: string | null,
): Promise<Reconciliation> {
  const caughtUp = await compareWithGitHub(app, userId);
  return reconcile(app, trigger, userId, caughtUp);
}

const underWay = new Map<string, Promise<Reconciliation>>();

/**
 * Reconciles the projects of a user who asked for it. A second request during a reconciliation shares its result,
 * because each takes minutes and only one runs at a time across all users.
 */
export function reconcileFor(app: App, userId: string): Promise<Reconciliation> {
  const known = underWay.get(userId);
  if (known !== undefined) return known;
  const begun = reconcileAll(app, 'manual', userId).finally(() => underWay.delete(userId));
  underWay.set(userId, begun);
  return begun;
}

/**
 * Tasks without news from GitHub that one pass compares, for each installation. A comparison takes up to ten calls, so
 * four passes an hour leave more than half of the 5,000 calls that GitHub allows.
 */
const unaskedComparisons = 50;

/** Compares the tasks with GitHub. Returns those whose status was out of date. */
async function compareWithGitHub(app: App, userId: string | null): Promise<Recovered> {
  if (app.github === undefined) return [];
  const caughtUp: Recovered = [];
  const unasked = new Map<number, number>();
  const repositoryIds = await listRepositoriesOf(app.db.manager, userId);
  // A user without repositories need not wait for the lock.
  if (repositoryIds.length === 0) return [];
  // The name stays, because workers of earlier versions use it too.
  await app.db.withLock('heal', async () => {
    await syncMilestones(app).catch((error) => app.log.warn({ err: error }, 'milestones could not be shown'));
    const about = (repositoryId: string) => ({ repositoryId });
    await eachApart(app, repositoryIds, about, async (repositoryId) => {
      const place = await placeOfRepository(app, repositoryId);
      if (place === undefined || place.repository.isArchived) return;
      // If one part fails, the others are still compared.
      const part = <T>(what: string, act: () => Promise<T>) =>
        act().catch((error) => {
          app.log.warn({ err: error, repositoryId }, `${what} could not be compared with GitHub`);
          return undefined;
        });
      const touched = await part('comments', () => catchUp(app, place));
      const left = unasked.get(place.installationId) ?? unaskedComparisons;
      const { due, others } = chooseWork(await listOpenWork(app.db.manager, repositoryId), touched, left);
      unasked.set(place.installationId, left - due.filter((work) => !isTouched(work, touched)).length);
      for (const work of due) {
        caughtUp.push(...((await part(`task ${work.taskId}`, () => compare(app, place, work))) ?? []));
        await markCompared(app.db.manager, repositoryId, work.taskId);
      }
      for (const { taskId } of others) await showTask(app, undefined, taskId);
    });
  });
  return caughtUp;
}

const isTouched = (work: Pick<OpenWork, 'numbers'>, touched?: Set<number>) =>
  work.numbers.some((number) => touched?.has(number));

/** Chooses the tasks to compare: all that changed on GitHub, and the first `most` of the others. */
export function chooseWork<W extends Pick<OpenWork, 'numbers'>>(
  work: W[],
  touched: Set<number> | undefined,
  most: number,
) {
  const quiet = work.filter((each) => !isTouched(each, touched));
  const chosen = new Set(quiet.slice(0, most));
  const due = work.filter((each) => chosen.has(each) || isTouched(each, touched));
  return { due, others: quiet.slice(most) };
}

/** Handles the labels `agent:ready` and `agent:backlog` that a person added while events did not reach us. */
async function obeyLabels(app: App, place: Place, { number, labels, status }: SeenIssue): Promise<void> {
  for (const label of [labelOf.ready, labelOf.backlog]) {
    if (label === labelOf[status] || !labels.includes(label)) continue;
    const sender = await labellerOf(app, place, number, label);
    if (sender !== undefined) await labelChanged(app, place, { number, label, sender, isPull: false });
  }
}

interface SeenIssue {
  number: number;
  labels: string[];
  status: OpenWork['status'];
}

/** Compares one task with its issue, its pull requests, their reviews and checks. */
async function compare(app: App, place: Place, work: OpenWork): Promise<Recovered> {
  const { octokit, name } = place;
  for (const pull of await listUnsettledPulls(app.db.manager, work.taskId, place.repository.id)) {
    const { status, headSha } = await refreshPull(app, octokit, name, pull);
    if (status === 'merged' || status === 'closed') continue;
    const at = { ...name, pull_number: pull.number };
    const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
    const reviews = await octokit.paginate(path, { ...at, per_page: 100 });
    for (const review of reviews.filter((r) => r.state === 'CHANGES_REQUESTED'))
      await takeReview(app, place, pull, review.id);
    await lookAtChecks(app, place, headSha);
  }
  const number = work.issueRepositoryId === place.repository.id ? work.issueNumber : null;
  if (number !== null) {
    const labels = await observeIssue(app, place, number);
    await obeyLabels(app, place, { number, labels, status: work.status });
  }
  await recheckTask(app, work.taskId);
  const now = await findTask(app.db.manager, work.taskId);
  if (now === undefined || now.status === work.status) return [];
  return [
    {
      taskId: work.taskId,
      action: 'caught_up',
      reason: `events from GitHub were lost; after a comparison with GitHub the task is now ${now.status}`,
    },
  ];
}

import type { App } from '../../app.ts';
import type { PullRequestRow } from '../../db/tables/task.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { queueMirror, recheckTask } from '../../tasks/move.ts';
import { findTask } from '../../tasks/store.ts';
import { noteCompared } from '../../worker/lease/figures.ts';
import { type Reconciliation, reconcile } from '../../worker/lease/reconcile.ts';
import { sweepRefs } from '../../worker/publish/sweep-refs.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { labelChanged, labellerOf } from '../commands/labels.ts';
import { heardUntil } from '../delivery-store.ts';
import { keepComments } from '../diff/keep-comments.ts';
import { eachApart, eachThenFail } from '../each-apart.ts';
import { lookAtChecks } from '../follow/checks.ts';
import { lookAtForeignPulls } from '../follow/collisions.ts';
import { observeIssue } from '../follow/issues.ts';
import { followBases, proveMissed } from '../follow/prove-pulls.ts';
import { refreshPull } from '../follow/refresh-pull.ts';
import { reviewMissed } from '../follow/review-pulls.ts';
import { takeReview } from '../follow/reviews.ts';
import { labelOf } from '../labels.ts';
import { mayHaveLinks } from '../links/link-store.ts';
import { compareLinks } from '../links/sync-links.ts';
import { syncMilestones } from '../mirror/milestones.ts';
import { listNewest } from '../paginate.ts';
import {
  listConnectedRepositories,
  listInstalledRepositories,
  listOpenWork,
  listProjectsToCompare,
  listUnsettledPulls,
  markCompared,
  type OpenWork,
} from '../store.ts';
import { catchUp } from './catch-up.ts';
import { compareConnected } from './compare-connected.ts';

type Recovered = Reconciliation['recovered'];

/**
 * Queues the comparison of every project with GitHub, because events may have been lost, and recovers stuck tasks and
 * runs. Each project has a job of its own, so that one with much to compare, or with a silent model, delays no other.
 */
export async function reconcileAll(app: App, trigger: Reconciliation['trigger']): Promise<void> {
  const projectIds = await listProjectsToCompare(app.db.manager, null);
  if (projectIds.length === 0) await noteCompared(app.db.manager);
  for (const projectId of projectIds) await app.queue.send(undefined, 'compare', { projectId }, { key: projectId });
  await reconcile(app, trigger, null);
}

/**
 * Compares a project with GitHub. If statuses were out of date, a scheduled reconciliation names the tasks. If GitHub could not
 * be asked, `deckhand_last_sweep_timestamp_seconds` stays, so that the alert about it fires.
 */
export async function compareJob(app: App, projectId: string): Promise<void> {
  const { caughtUp, hasAnswer } = await compareProject(app, projectId);
  if (hasAnswer) await noteCompared(app.db.manager);
  if (caughtUp.length > 0) await reconcile(app, 'scheduled', null, caughtUp);
}

const underWay = new Map<string, Promise<Reconciliation>>();

/**
 * Compares the projects of a user with GitHub, then recovers their stuck tasks and runs. A second request during a
 * reconciliation shares its result, because each may take minutes.
 */
export function reconcileFor(app: App, userId: string): Promise<Reconciliation> {
  const known = underWay.get(userId);
  if (known !== undefined) return known;
  const begun = reconcileNow(app, userId).finally(() => underWay.delete(userId));
  underWay.set(userId, begun);
  return begun;
}

async function reconcileNow(app: App, userId: string): Promise<Reconciliation> {
  const caughtUp: Recovered = [];
  const projectIds = await listProjectsToCompare(app.db.manager, userId);
  const about = (projectId: string) => ({ projectId });
  await eachApart(app, projectIds, about, async (id) => caughtUp.push(...(await compareProject(app, id)).caughtUp));
  return reconcile(app, 'manual', userId, caughtUp);
}

/**
 * Tasks without news from GitHub that one pass compares, for each installation. A comparison takes up to eleven calls, and
 * four more if links of its issue differ, which is rare. So four passes an hour leave more than half of the 5,000 calls
 * that GitHub allows.
 */
const unaskedComparisons = 50;
/** Time for one pass. It begins nothing after this time, and the next pass continues where it stopped. */
const passMs = 10 * 60_000;

/** One pass over the repositories of a project. */
interface Pass {
  /** Comparisons without news that are left. */
  unasked: number;
  caughtUp: Recovered;
  /** Whether GitHub has answered at all, and whether something was not compared because it did not. */
  hasAnswer: boolean;
  hasFailed: boolean;
  isOver(): boolean;
}

/** Stores in the pass that something was not compared. A refusal to show it counts as an answer; a rate limit or a refused key does not. */
function noteFailure(pass: Pass, error: unknown): void {
  if (isRefusedWith(error, 403, 404, 410, 422, 451)) pass.hasAnswer = true;
  else pass.hasFailed = true;
}

/** Compares the tasks of a project with GitHub. A lock lets one call run at a time. Returns those that were out of date. */
async function compareProject(app: App, projectId: string): Promise<{ caughtUp: Recovered; hasAnswer: boolean }> {
  const caughtUp: Recovered = [];
  let hasAnswer = false;
  await app.db.withLock(`compare ${projectId}`, async () => {
    const end = performance.now() + passMs;
    const isOver = () => performance.now() >= end || app.stopping.aborted;
    const pass: Pass = { unasked: unaskedComparisons, caughtUp, hasAnswer: false, hasFailed: false, isOver };
    const about = (repositoryId: string) => ({ repositoryId });
    const noted = (compared: Promise<void>) =>
      compared.catch((error) => {
        noteFailure(pass, error);
        throw error;
      });
    const repositoryIds = await listInstalledRepositories(app.db.manager, projectId);
    await eachApart(app, repositoryIds, about, (repositoryId) => noted(compareRepository(app, repositoryId, pass)));
    const connected = await listConnectedRepositories(app.db.manager, projectId);
    await eachApart(app, connected, about, (repositoryId) =>
      noted(compareConnected(app, repositoryId, (work, read) => compareWithin(app, pass, work, read))),
    );
    hasAnswer = pass.hasAnswer || !pass.hasFailed;
    await syncMilestones(app, projectId).catch((error) =>
      app.log.warn({ err: error, projectId }, 'milestones could not be compared with GitHub'),
    );
  });
  return { caughtUp, hasAnswer };
}

async function compareRepository(app: App, repositoryId: string, pass: Pass): Promise<void> {
  const place = pass.isOver() ? undefined : await placeOfRepository(app, repositoryId);
  if (place === undefined || place.repository.isArchived) return;
  // If one part fails, the others are still compared.
  const part = <T>(what: string, act: () => Promise<T>) =>
    act().catch((error) => {
      noteFailure(pass, error);
      app.log.warn({ err: error, repositoryId }, `${what} could not be compared with GitHub`);
      return undefined;
    });
  await part('refs', () => sweepRefs(app, { ...place, projectId: place.repository.projectId }));
  // Reading the comments moves the time since when pull requests count as changed.
  await part('pull requests', () => reviewMissed(app, place, pass.isOver));
  await part('base branches of proofs', () => followBases(app, place, pass.isOver));
  await part('proofs of pull requests', () => proveMissed(app, place, pass.isOver));
  await part('collisions', () => lookAtForeignPulls(app, place));
  const asksForComments = (await heardUntil(app.db.manager, repositoryId)) !== undefined;
  const touched = await part('comments', () => catchUp(app, place, pass.isOver));
  if (asksForComments && touched !== undefined) pass.hasAnswer = true;
  const { due, others } = chooseWork(await listOpenWork(app.db.manager, repositoryId), touched, pass.unasked);
  pass.unasked -= due.filter((work) => !isTouched(work, touched)).length;
  for (const work of due) {
    if (pass.isOver()) return;
    pass.caughtUp.push(...((await part(`task ${work.taskId}`, () => compare(app, place, work))) ?? []));
    await markCompared(app.db.manager, repositoryId, work.taskId);
  }
  for (const { taskId } of others) await queueMirror(app, undefined, taskId);
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

/** Compares a task of a repository without the App. Returns false when the pass is over. */
async function compareWithin(app: App, pass: Pass, work: OpenWork, read: () => Promise<void>): Promise<boolean> {
  if (pass.isOver() || pass.unasked <= 0) return false;
  pass.unasked -= 1;
  await read().then(
    () => {
      pass.hasAnswer = true;
    },
    (error) => {
      noteFailure(pass, error);
      app.log.warn({ err: error, taskId: work.taskId }, 'a task could not be compared with GitHub');
    },
  );
  pass.caughtUp.push(...(await changeOf(app, work)));
  return true;
}

/** Compares one task with its issue, its pull requests, their reviews and checks. One part that fails holds up no other. */
async function compare(app: App, place: Place, work: OpenWork): Promise<Recovered> {
  const parts = [
    () => comparePulls(app, place, work),
    () => compareIssue(app, place, work),
    () => recheckTask(app, work.taskId),
  ];
  await eachThenFail(parts, (part) => part());
  return changeOf(app, work);
}

/** Returns what a comparison changed of a task. */
async function changeOf(app: App, work: OpenWork): Promise<Recovered> {
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

/**
 * Compares the pull requests of a task, their reviews and checks. Of more than 1,000 reviews, only the newest 1,000 are
 * read: older ones that were missed start no revision.
 */
async function comparePulls(app: App, place: Place, { taskId }: OpenWork): Promise<void> {
  const { octokit, name } = place;
  const pulls = await listUnsettledPulls(app.db.manager, taskId, place.repository.id);
  await eachThenFail(pulls, async (pull) => {
    const { status, headSha } = await refreshPull(app, octokit, name, pull, { looks: true });
    if (status === 'merged' || status === 'closed') return;
    const parts = [
      () => keepComments(app, place, pull),
      () => compareReviews(app, place, pull),
      () => lookAtChecks(app, place, headSha),
    ];
    await eachThenFail(parts, (part) => part());
  });
}

async function compareReviews(app: App, place: Place, pull: PullRequestRow): Promise<void> {
  const { octokit, name } = place;
  const at = { ...name, pull_number: pull.number };
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const { items: reviews } = await listNewest((page) => octokit.request(path, { ...at, ...page }));
  for (const review of reviews.filter((r) => r.state === 'CHANGES_REQUESTED'))
    await takeReview(app, place, pull, Number(review.id));
}

async function compareIssue(app: App, place: Place, work: OpenWork): Promise<void> {
  if (work.issueRepositoryId !== place.repository.id || work.issueNumber === null) return;
  const { labels, hasLinks } = await observeIssue(app, place, work.issueNumber);
  const { issueNumber: number, status, taskId } = work;
  const parts = [
    () => obeyLabels(app, place, { number, labels, status }),
    async () => {
      if (hasLinks || (await mayHaveLinks(app.db.manager, taskId))) await compareLinks(app, taskId);
    },
  ];
  await eachThenFail(parts, (part) => part());
}

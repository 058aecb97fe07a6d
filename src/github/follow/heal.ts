import type { App } from '../../app.ts';
import { reconcile } from '../../runs/lease/reconcile.ts';
import type { Reconciliation } from '../../runs/lease/reconcile-store.ts';
import { showTask } from '../../tasks/move.ts';
import { findTask } from '../../tasks/store.ts';
import { syncMilestones } from '../mirror/milestones.ts';
import { labelOf } from '../mirror/mirror.ts';
import { type Place, placeOfRepository } from '../place.ts';
import { listOpenWork, listRepositoriesOf, listUnsettledPulls, type OpenWork } from '../store.ts';
import { catchUp } from './catch-up.ts';
import { lookAtChecks } from './checks.ts';
import { observeIssue } from './issues.ts';
import { labelChanged, labellerOf } from './labels.ts';
import { refreshPull } from './refresh-pull.ts';
import { takeReview } from './reviews.ts';

type Recovered = Reconciliation['recovered'];

/**
 * Puts right what events should have told and did not, then what fell by the wayside here. Of a user's projects, or of
 * all. Two at once take turns. GitHub being away leaves its part to the next time.
 */
export async function reconcileAll(
  app: App,
  trigger: Reconciliation['trigger'],
  userId: string | null,
): Promise<Reconciliation> {
  const healed = await heal(app, userId);
  return reconcile(app, trigger, userId, healed);
}

const underWay = new Map<string, Promise<Reconciliation>>();

/**
 * The same for a user who asks for it. Asking again while it is under way gives the same one: each takes minutes of
 * GitHub's time, and everybody's take turns.
 */
export function reconcileFor(app: App, userId: string): Promise<Reconciliation> {
  const known = underWay.get(userId);
  if (known !== undefined) return known;
  const begun = reconcileAll(app, 'manual', userId).finally(() => underWay.delete(userId));
  underWay.set(userId, begun);
  return begun;
}

async function heal(app: App, userId: string | null): Promise<Recovered> {
  if (app.github === undefined) return [];
  const healed: Recovered = [];
  await app.db.turn('heal', async () => {
    await syncMilestones(app).catch((error) => app.log.warn({ err: error }, 'milestones could not be shown'));
    for (const repositoryId of await listRepositoriesOf(app.db.manager, userId)) {
      const place = await placeOfRepository(app, repositoryId);
      if (place === undefined || place.repository.isArchived) continue;
      // What fails with one does not keep the others from being put right.
      const part = <T>(what: string, act: () => Promise<T>) =>
        act().catch((error) => {
          app.log.warn({ err: error, repositoryId }, `${what} could not be compared with GitHub`);
          return undefined;
        });
      await part('comments', () => catchUp(app, place));
      for (const work of await listOpenWork(app.db.manager, repositoryId))
        healed.push(...((await part(`task ${work.taskId}`, () => compare(app, place, work))) ?? []));
    }
  });
  return healed;
}

/** Ready and backlog that a person put on while no event reached us. */
async function hearLabels(app: App, place: Place, number: number, status: OpenWork['status']): Promise<void> {
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/labels';
  const { data } = await place.octokit.request(path, { ...place.name, issue_number: number, per_page: 100 });
  for (const label of [labelOf.ready, labelOf.backlog]) {
    if (label === labelOf[status] || !data.some((l) => l.name === label)) continue;
    const sender = await labellerOf(app, place, number, label);
    if (sender !== undefined) await labelChanged(app, place, { number, label, sender, isPull: false });
  }
}

/** One task with its issue, its pull requests, their reviews and checks. */
async function compare(app: App, place: Place, work: OpenWork): Promise<Recovered> {
  const { octokit, name } = place;
  for (const pull of await listUnsettledPulls(app.db.manager, work.taskId, place.repository.id)) {
    const status = await refreshPull(app, octokit, name, pull);
    if (status === 'merged' || status === 'closed') continue;
    const at = { ...name, pull_number: pull.number };
    const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
    const reviews = await octokit.paginate(path, { ...at, per_page: 100 });
    for (const review of reviews.filter((r) => r.state === 'CHANGES_REQUESTED'))
      await takeReview(app, place, pull, review.id);
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
    await lookAtChecks(app, place, data.head.sha);
  }
  if (work.issueNumber !== null && work.issueRepositoryId === place.repository.id)
    await observeIssue(app, place, work.issueNumber);
  if (work.issueNumber !== null) await hearLabels(app, place, work.issueNumber, work.status);
  await showTask(app, undefined, work.taskId);
  const now = await findTask(app.db.manager, work.taskId);
  if (now === undefined || now.status === work.status) return [];
  return [{ taskId: work.taskId, action: 'caught_up', reason: `GitHub had gone on; it is ${now.status} now` }];
}

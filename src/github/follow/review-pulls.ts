import type { App } from '../../app.ts';
import { RunFailed } from '../../domain/run.ts';
import { rightOf } from '../../repositories/permission.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { askAboutPull, findLiveReview, unlessRefused } from '../../runs/reviewing/ask.ts';
import { forgetHead, noteHead } from '../../runs/reviewing/read-pull.ts';
import { findTaskOfPull, isAsked } from '../../runs/reviewing/store.ts';
import type { Place } from '../app/place.ts';
import { heardUntil } from '../delivery-store.ts';

/** What an event says of a pull request. */
export interface PullOfEvent {
  number: number;
  state: string;
  draft?: boolean | undefined;
  user: { id: number | bigint; login: string; type?: string } | null;
  head: { sha: string; repo: { id: number | bigint } | null };
  base: { repo: { id: number | bigint } };
}

/** Remembers since when a pull request has its head, by GitHub's clock, until it is closed. */
export async function headChanged(
  app: App,
  { repository }: Place,
  action: string,
  {
    number,
    head,
    updated_at: updatedAt,
  }: Pick<PullOfEvent, 'number'> & { head?: { sha: string }; updated_at?: string },
): Promise<void> {
  const at = { repositoryId: repository.id, number };
  if (action === 'closed') await forgetHead(app.db.manager, at);
  if (!['opened', 'reopened', 'synchronize'].includes(action) || !head?.sha) return;
  const since = action === 'opened' ? null : new Date(updatedAt ?? Date.now());
  await noteHead(app.db.manager, at, { headSha: head.sha, since });
}

/** After these actions, a pull request may get a review that nobody asked for. */
const beginnings = new Set(['opened', 'reopened', 'ready_for_review', 'synchronize']);

/**
 * Reviews a pull request where the repository wants that for all of them, and takes up a push during a review. Pull requests
 * of our tasks, drafts, and those of people without write permission get no review that nobody asked for.
 */
export async function reviewUnasked(app: App, place: Place, action: string, pull: PullOfEvent): Promise<void> {
  if (!beginnings.has(action) || pull.state !== 'open') return;
  const { repository } = place;
  const em = app.db.manager;
  const at = { repositoryId: repository.id, number: pull.number };
  const live = action === 'synchronize' ? await findLiveReview(em, at) : undefined;
  if (live !== undefined) {
    const { startedBy: askedBy, instructions } = live;
    const again = {
      repository,
      number: pull.number,
      kind: 'review',
      askedBy,
      instructions,
      isAutomatic: true,
    } as const;
    return unlessRefused(app, askAboutPull(app, again));
  }
  if (pull.draft || (await findTaskOfPull(em, repository.id, pull.number)) !== undefined) return;
  if (!(await wantsAll(place)) || !(await isOfWriter(app, place, pull))) return;
  await unlessRefused(app, askAboutPull(app, { repository, number: pull.number, kind: 'review', askedBy: null }));
}

/** At most this many pull requests are looked at, those that changed last. */
const lookedAt = 30;

/**
 * Reviews the open pull requests of a repository that wants that for all of them, if their events were lost: they changed
 * since the last comparison, and nobody asked about their head.
 */
export async function reviewMissed(app: App, place: Place, isOver: () => boolean): Promise<void> {
  const { octokit, name, repository } = place;
  const em = app.db.manager;
  const since = await heardUntil(em, repository.id);
  if (since === undefined || !(await wantsAll(place))) return;
  const { data: pulls } = await octokit.request('GET /repos/{owner}/{repo}/pulls', {
    ...name,
    state: 'open',
    sort: 'updated',
    direction: 'desc',
    per_page: lookedAt,
  });
  for (const pull of pulls) {
    if (isOver()) return;
    if (pull.updated_at < since) continue;
    const at = { repositoryId: repository.id, number: pull.number };
    if (!(await isAsked(em, at, pull.head.sha))) await reviewUnasked(app, place, 'opened', pull);
  }
}

async function wantsAll({ octokit, name }: Place): Promise<boolean> {
  const settings = await settingsOnGitHub(octokit, name).catch((error) => {
    if (error instanceof RunFailed) return undefined;
    throw error;
  });
  return settings?.review === 'everyone';
}

/** Whether somebody who may write opened it. Only they can push to a branch here; a fork shows nothing about its owner. */
async function isOfWriter(app: App, { octokit, name }: Place, { user, head, base }: PullOfEvent): Promise<boolean> {
  if (user === null || Number(user.id) === (await app.github?.bot())?.id) return false;
  // GitHub knows no permissions of bots.
  if (user.type === 'Bot') return head.repo !== null && Number(head.repo.id) === Number(base.repo.id);
  return (await rightOf(octokit, name, user)).right === 'write';
}

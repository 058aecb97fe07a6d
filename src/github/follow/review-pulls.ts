import type { App } from '../../app.ts';
import { RunFailed } from '../../domain/run.ts';
import { rightOf } from '../../repositories/permission.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { askAboutPull, findLiveReview, unlessRefused } from '../../runs/reviewing/ask.ts';
import type { Place } from '../app/place.ts';
import { findTaskOfPull } from '../store.ts';

/** What an event says of a pull request. */
export interface PullOfEvent {
  number: number;
  state: string;
  draft?: boolean | undefined;
  user: { id: number; login: string; type?: string } | null;
  head: { sha: string; repo: { id: number } | null };
  base: { repo: { id: number } };
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

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { RunFailed } from '../../domain/run.ts';
import { AppError } from '../../errors.ts';
import { decidingSettings } from '../../repositories/settings/repository-settings.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { askForProof, endProof, findLiveProof, mirrorProof } from '../../runs/reviewing/ask-proof.ts';
import {
  findPullProof,
  forgetHeld,
  isLatestProof,
  listHeldNumbers,
  type PullProof,
  releaseClosed,
  waitsForWriter,
  wasRequired,
} from '../../runs/reviewing/pull-proofs.ts';
import type { PullRef } from '../../runs/reviewing/store.ts';
import { listTaken, outdateProof } from '../../runs/reviewing/taken-commits.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { heardUntil } from '../delivery-store.ts';
import { listPages } from '../paginate.ts';
import type { PullOfEvent } from './review-pulls.ts';

/** After these actions, a pull request has a head that nobody has looked at. */
const beginnings = new Set(['opened', 'reopened', 'synchronize']);

/**
 * Proves a pull request where the repository wants that for all of them. Runs prove what they push themselves. A newer head,
 * and the end of the pull request, cancel a proof, also one that somebody asked for.
 */
export async function proveUnasked(
  app: App,
  place: Place,
  { action, isRetargeted }: { action: string; isRetargeted: boolean },
  pull: Pick<PullOfEvent, 'number' | 'state'>,
): Promise<void> {
  const { repository } = place;
  const at = { repositoryId: repository.id, number: pull.number };
  const isNew = beginnings.has(action) || isRetargeted;
  if (action === 'closed' || action === 'synchronize') {
    await endOutdated(app, place, at);
    if (action === 'closed' && (await isClosed(app, place, at))) await releaseClosed(app.db.manager, at);
    // The check runs of other pull requests of the same head may have shown what this one said.
    await mirrorProof(app, at);
  }
  if (!isNew || pull.state !== 'open' || (await wantsAll(place)) === false) return;
  // While it was closed, its base branch may have taken in commits of it.
  await proveIfAllowed(app, place, pull.number, isRetargeted || action === 'reopened');
}

/** GitHub sends no more commits of a push (docs.github.com, "Webhook events and payloads", push). */
const maxSent = 2048;

/**
 * Queues a job for each pull request into a branch that has to be proved again after a push: those with commits that the push
 * brought into the branch, such as by the merge of a pull request below them. After a forced push these are all open ones, because
 * commits that the branch has lost belong to them now.
 */
export async function proveTaken(
  app: App,
  place: Place,
  branch: string,
  { commits, forced }: { commits: { id: string }[]; forced: boolean },
): Promise<void> {
  const repositoryId = place.repository.id;
  if ((await wasRequired(app.db.manager, repositoryId)) === undefined) return;
  const isKnown = !forced && commits.length < maxSent;
  const ids = commits.map(({ id }) => id);
  const numbers = isKnown ? await listTaken(app.db.manager, repositoryId, branch, ids) : await listInto(place, branch);
  for (const number of numbers)
    await app.db.transaction(async (em) => {
      // The job may fail for long. The old result must not count until then.
      await outdateProof(em, { repositoryId, number }, 'its base branch has changed, and it is being proved again');
      await app.queue.send(em, 'proof', { repositoryId, number }, { key: `${repositoryId} ${number}` });
      await mirrorProof(app, { repositoryId, number }, em);
    });
}

/** Returns the open pull requests into a branch. */
async function listInto({ octokit, name }: Place, branch: string): Promise<number[]> {
  const asked = { ...name, state: 'open', base: branch } as const;
  const read = (page: object) => octokit.request('GET /repos/{owner}/{repo}/pulls', { ...asked, ...page });
  return (await listPages(async (page) => (await read(page)).data)).items.map(({ number }) => number);
}

/**
 * Proves a pull request again whose base branch has taken in commits of it. Where only people ask for proofs, its proof counts no
 * longer.
 */
export async function proveAgainJob(app: App, at: PullRef): Promise<void> {
  const place = await placeOfRepository(app, at.repositoryId);
  if (place === undefined) return;
  if ((await wantsAll(place)) !== false) return proveIfAllowed(app, place, at.number, true);
  const live = await findLiveProof(app.db.manager, at);
  if (live !== undefined) await endProof(app, live.taskId, 'The base branch has taken in commits of the pull request.');
  await outdateProof(app.db.manager, at, 'the base branch has taken in commits of the pull request since; ask again');
  await mirrorProof(app, at);
}

/** Returns whether a stranger's pull request is closed now. The event `closed` may arrive after `reopened`. */
async function isClosed(app: App, { octokit, name }: Place, at: PullRef): Promise<boolean> {
  if (!(await waitsForWriter(app.db.manager, at))) return false;
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  return (await octokit.request(path, { ...name, pull_number: at.number })).data.state !== 'open';
}

/** Cancels the live proof of a pull request that has another head now, or is closed. */
async function endOutdated(app: App, { octokit, name }: Place, at: PullRef): Promise<void> {
  const live = await findLiveProof(app.db.manager, at);
  if (live === undefined) return;
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const { data } = await octokit.request(path, { ...name, pull_number: at.number });
  if (data.state !== 'open') await endProof(app, live.taskId, 'The pull request was closed.');
  else if (data.head.sha !== live.headSha) await endProof(app, live.taskId, 'The pull request has a newer commit.');
}

/** At most this many pull requests are looked at, those that changed last. */
const lookedAt = 30;

/**
 * Proves the open pull requests of a repository that wants that for all of them, if their events were lost, and those for
 * which the minutes of another day were used up, or the settings could not be used or said something else about failing check runs.
 */
export async function proveMissed(app: App, place: Place, isOver: () => boolean): Promise<void> {
  const { repository } = place;
  const em = app.db.manager;
  const since = await heardUntil(em, repository.id);
  const held = await listHeldNumbers(em, repository.id);
  const hasAny = since !== undefined || held.length > 0 || (await wasRequired(em, repository.id)) !== undefined;
  const wants = hasAny ? await wantsAll(place) : false;
  if (wants === false && held.length === 0) return;
  const isWanted = wants !== false;
  const pulls = await listOpen(place);
  const missed = pulls.filter(({ updated_at }) => isWanted && since !== undefined && updated_at >= since);
  for (const number of new Set([...held, ...missed.map((pull) => pull.number)])) {
    if (isOver()) return;
    const at = { repositoryId: repository.id, number };
    const lack = held.includes(number)
      ? 'proof'
      : await lackOf(
          em,
          at,
          pulls.find((pull) => pull.number === number),
        );
    // It may have been closed or opened since, which changes what counts for its head.
    if (lack === undefined) await mirrorProof(app, at);
    else await proveIfAllowed(app, place, number, lack === 'base');
  }
  const isOther = ({ status, isRequired }: PullProof) => status !== null && isRequired !== (wants === 'required');
  if (wants === 'required' || wants === true) await proveKnown(app, place, { pulls, isOther, isOver });
}

type OpenPulls = Awaited<ReturnType<typeof listOpen>>;

async function listOpen({ octokit, name }: Place) {
  const asked = { ...name, state: 'open', sort: 'updated', direction: 'desc', per_page: lookedAt } as const;
  return (await octokit.request('GET /repos/{owner}/{repo}/pulls', asked)).data;
}

/** Proves those open pull requests again whose check runs show what was found out under other settings. */
async function proveKnown(
  app: App,
  place: Place,
  { pulls, isOther, isOver }: { pulls: OpenPulls; isOther: (proof: PullProof) => boolean; isOver: () => boolean },
): Promise<void> {
  for (const { number, head } of pulls) {
    if (isOver()) return;
    const known = await findPullProof(app.db.manager, { repositoryId: place.repository.id, number }, head.sha);
    if (known !== undefined && isOther(known)) await proveIfAllowed(app, place, number, true);
  }
}

/**
 * Proves open pull requests again if a push to the default branch changed what decides about proofs.
 */
export async function proveAfterPush(app: App, place: Place, push: { before: string; after: string }): Promise<void> {
  if ((await wasRequired(app.db.manager, place.repository.id)) === undefined) return;
  const [before, after] = [await rulesAt(place, push.before), await rulesAt(place, push.after)];
  if (before === after || (await wantsAll(place)) === false) return;
  await proveKnown(app, place, { pulls: await listOpen(place), isOther: () => true, isOver: () => false });
}

/** Returns what decides about proofs at a commit, as a text to compare. Settings that cannot be used are all alike. */
async function rulesAt({ octokit, name }: Place, ref: string): Promise<string> {
  const settings = await settingsOnGitHub(octokit, { ...name, ref }).catch((error) => {
    if (error instanceof RunFailed) return undefined;
    throw error;
  });
  return settings === undefined ? '' : JSON.stringify([decidingSettings(settings), settings.prove.everyone]);
}

/** Returns whether a pull request has no proof of its head, or one for another base than it has now. */
async function lackOf(
  em: EntityManager,
  at: PullRef,
  pull: { head: { sha: string }; base: { ref: string } } | undefined,
): Promise<'proof' | 'base' | undefined> {
  const known = pull === undefined ? undefined : await findPullProof(em, at, pull.head.sha);
  if (pull === undefined || known === undefined || !(await isLatestProof(em, known.id))) return 'proof';
  return known.base === null || known.base === pull.base.ref ? undefined : 'base';
}

/** Whether a repository wants a proof of every pull request; undefined if its settings cannot be used, so it may. */
async function wantsAll({ octokit, name }: Place): Promise<boolean | 'required' | undefined> {
  const settings = await settingsOnGitHub(octokit, name).catch((error) => {
    if (error instanceof RunFailed) return undefined;
    throw error;
  });
  return settings?.prove.everyone;
}

/** Asks for a proof that nobody waits for. What the state forbids is logged; everything else is thrown. */
async function proveIfAllowed(app: App, { repository }: Place, number: number, again: boolean): Promise<void> {
  await askForProof(app, { repository, number, askedBy: null, again }).catch(async (error) => {
    const isExpected = error instanceof Refused || (error instanceof AppError && error.status !== 502);
    if (!isExpected) throw error;
    await forgetHeld(app.db.manager, { repositoryId: repository.id, number });
    app.log.info({ err: error, number }, 'a pull request is not proved');
  });
}

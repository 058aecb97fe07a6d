import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { RunFailed } from '../../domain/run.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import { noSettings, rulesForEverybody, rulesOfProofs } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { isBeingPublished } from '../../runs/journal.ts';
import { storeRulesOfProofs } from '../../runs/proof/proof-store.ts';
import { askForProof, endProof, findLiveProof, mirrorProof, showHeadAgain } from '../../runs/pull-proofs/ask-proof.ts';
import { holdJudged } from '../../runs/pull-proofs/hold-judged.ts';
import {
  askAgain,
  followBaseFrom,
  forgetProofBase,
  hasProofsInto,
  isOutdated,
  listDoubtful,
  listFollowedBranches,
  listProofBases,
  listUnknown,
  listWithOtherRules,
  moveProofBase,
  type OpenPull,
  outdateProof,
  outdateProofsInto,
  outdateTaken,
  type ProofBase,
  rememberRequired,
  requireProofs,
} from '../../runs/pull-proofs/outdated-proofs.ts';
import {
  forgetHeld,
  listHeldNumbers,
  releaseClosed,
  waitsForWriter,
  wasRequired,
} from '../../runs/pull-proofs/pull-proofs.ts';
import type { PullRef } from '../../runs/reviewing/store.ts';
import { forStranger, pauseOfStrangers, urgently } from '../app/pacing.ts';
import { type Place, placeOfRepository, readRepository } from '../app/place.ts';
import { heardUntil } from '../delivery-store.ts';
import { eachThenFail } from '../each-apart.ts';
import { type ListedPull, listOpenPulls } from '../paginate.ts';
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
  pull: Pick<PullOfEvent, 'number' | 'state' | 'user' | 'head'>,
): Promise<void> {
  const { repository } = place;
  const at = { repositoryId: repository.id, number: pull.number };
  if (action === 'opened' && (await isBeingOpened(app, place, pull))) return proveLater(app, at);
  const isNew = beginnings.has(action) || isRetargeted;
  if (action === 'closed' || action === 'synchronize') {
    await endOutdated(app, place, at);
    if (action === 'closed' && (await isClosed(app, place, at))) await releaseClosed(app.db.manager, at);
    // The check runs of other pull requests of the same head may have shown what this one said.
    await mirrorProof(app, at);
  }
  if (!isNew || pull.state !== 'open') return;
  if (!mayWant(await readSettings(place))) {
    if (isRetargeted || (await isOutdated(app.db.manager, at))) await outdateProof(app.db.manager, at, askAgain);
    return mirrorProof(app, at);
  }
  // While it was closed, its base branch may have taken in commits of it.
  await proveIfAllowed(app, place, pull.number, isRetargeted || action === 'reopened');
}

/** Returns whether a run of the project has just opened a pull request, and may not have stored that. */
async function isBeingOpened(app: App, { repository }: Place, { user, head }: Pick<PullOfEvent, 'user' | 'head'>) {
  const bot = await app.github?.bot();
  if (bot === undefined || Number(user?.id) !== bot.id) return false;
  return isBeingPublished(app.db.manager, head.sha, repository.id);
}

/** A run stores its pull request at once after it has opened it. */
const storedAfterSeconds = 20;

/** Looks at a pull request when it is known whose it is. By then, what no task has is proved. */
const proveLater = (app: App, at: PullRef) =>
  app.queue.send(undefined, 'proof', at, { key: `${at.repositoryId} ${at.number}`, afterSeconds: storedAfterSeconds });

/** GitHub sends no more commits of a push (docs.github.com, "Webhook events and payloads", push). */
const maxSent = 2048;

interface Push {
  before: string;
  after: string;
  commits: { id: string }[];
  created: boolean;
  forced: boolean;
  deleted: boolean;
}

/**
 * Has pull requests into a branch proved again after a push to it: those with commits that the branch has taken in, such as by the
 * merge of a pull request below them. After a forced push these are all of them, because commits that the branch has lost belong to
 * them now. If the push is not the next one after the last that was heard of, or not the last one, GitHub is asked for all since.
 */
export async function proveAfterPush(app: App, place: Place, branch: string, push: Push): Promise<void> {
  const { id } = place.repository;
  const em = app.db.manager;
  const known = await listProofBases(em, id, branch);
  if (known.length === 0) {
    if (!(await hasProofsInto(em, id, branch))) return;
    // What an earlier release proved is followed from its first push on.
    await followBaseFrom(em, id, { branch, head: push.before });
  }
  await urgently(() => followBase(app, place, branch, push));
}

/** At most this many pull requests into a branch that is gone are looked at, the newest ones. Most are closed. */
const maxOfGone = 100;

/**
 * Has the pull requests proved again that are affected by what happened to a branch since it was followed. `push` is its last push, as
 * far as is known.
 */
async function followBase(app: App, place: Place, branch: string, push?: Push): Promise<void> {
  const { id } = place.repository;
  const head = await headOf(place, branch);
  if (head === undefined) {
    const gone = await app.db.transaction((em) => forgetProofBase(em, { repositoryId: id, branch }));
    // If the branch was merged, GitHub gives the open ones another base, and may send no event. The check runs of merged ones stay.
    for (const number of gone.sort((a, b) => b - a).slice(0, maxOfGone)) await sendProof(app, undefined, id, number);
    return;
  }
  for (const from of await listProofBases(app.db.manager, id, branch)) {
    const isPush = push?.before === from.head && push.after === head;
    const taken = isPush ? takenBy(push) : await takenSince(place, from, head);
    await takeIn(app, place, from, { head, taken });
  }
}

/** Returns the commits that a branch has gained by a push; `unknown` if it has lost some, or if GitHub does not send all. */
function takenBy({ commits, created, forced }: Push): string[] | 'unknown' {
  return forced || created || commits.length >= maxSent ? 'unknown' : commits.map(({ id }) => id);
}

/** Returns the newest commit of a branch; undefined if no branch has the name. */
async function headOf({ octokit, name }: Place, branch: string): Promise<string | undefined> {
  const path = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
  return (await unlessMissing(octokit.request(path, { ...name, ref: `heads/${branch}` })))?.object.sha;
}

/**
 * Returns the commits that a branch has gained since one; `unknown` if it has lost some, or if there are too many. GitHub answers with
 * 404 if the two have nothing in common, or if the earlier one was deleted after a forced push, and with 5xx if they differ too much.
 */
async function takenSince({ octokit, name }: Place, from: ProofBase, head: string): Promise<string[] | 'unknown'> {
  if (from.head === head) return [];
  const path = 'GET /repos/{owner}/{repo}/compare/{basehead}';
  const found = await octokit.request(path, { ...name, basehead: `${from.head}...${head}` }).then(
    ({ data }) => data,
    (error) => {
      if (isRefusedWith(error, 404, 422, 500, 502, 503, 504)) return undefined;
      throw error;
    },
  );
  const isWhole = found !== undefined && found.behind_by === 0 && found.total_commits === found.commits.length;
  return isWhole ? found.commits.map(({ sha }) => sha) : 'unknown';
}

const changedBase = 'its base branch has changed, and it is being proved again';

/** At most this many pull requests get a job after a push. The comparison with GitHub queues those of the others. */
const maxTaken = 1000;

/** Has pull requests proved again, then stores up to where the branch was followed. */
async function takeIn(
  app: App,
  place: Place,
  from: ProofBase,
  { head, taken }: { head: string; taken: string[] | 'unknown' },
): Promise<void> {
  const { id } = place.repository;
  const em = app.db.manager;
  const at = { repositoryId: id, branch: from.branch };
  const numbers =
    taken === 'unknown'
      ? await openOf(place, from.branch, await outdateProofsInto(em, at, changedBase))
      : await outdateTaken(em, at, taken, changedBase);
  await proveAgain(app, id, numbers.slice(0, maxTaken), changedBase);
  await moveProofBase(em, id, from, head);
}

/** Queues a job for each pull request. Because these may fail for long, the results so far must not count until then. */
async function proveAgain(app: App, repositoryId: string, numbers: number[], reason: string): Promise<void> {
  for (const number of numbers)
    await app.db.transaction(async (em) => {
      await outdateProof(em, { repositoryId, number }, reason);
      await sendProof(app, em, repositoryId, number);
      await mirrorProof(app, { repositoryId, number }, em);
    });
}

const sendProof = (app: App, em: EntityManager | undefined, repositoryId: string, number: number) =>
  app.queue.send(em, 'proof', { repositoryId, number }, { key: `${repositoryId} ${number}` });

/** Returns those of some pull requests into a branch that are open. */
async function openOf({ octokit, name }: Place, branch: string, numbers: number[]): Promise<number[]> {
  if (numbers.length === 0) return [];
  const known = new Set(numbers);
  const open = await listOpenPulls(octokit, name, branch);
  return open.map(({ number }) => number).filter((number) => known.has(number));
}

/**
 * Proves a pull request again whose base branch has taken in commits of it. Where only people ask for proofs, its proof counts no
 * longer.
 */
export async function proveAgainJob(app: App, at: PullRef): Promise<void> {
  const place = await placeOfRepository(app, at.repositoryId);
  if (place === undefined) return;
  // Somebody may have asked for it since, and then it counts.
  if (mayWant(await readSettings(place))) return proveIfAllowed(app, place, at.number, false);
  if (!(await isOutdated(app.db.manager, at))) return;
  const live = await findLiveProof(app.db.manager, at);
  if (live !== undefined) await endProof(app, live.taskId, 'The base branch has taken in commits of the pull request.');
  await outdateProof(app.db.manager, at, askAgain);
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

/** At most this many branches are looked at in one comparison. */
const maxBases = 20;

/** Has pull requests proved again whose base branches have changed without an event. If one cannot be read, the others are. */
export async function followBases(app: App, place: Place, isOver: () => boolean): Promise<void> {
  const branches = await listFollowedBranches(app.db.manager, place.repository, maxBases);
  await eachThenFail(branches, async (branch) => {
    if (!isOver()) await urgently(() => followBase(app, place, branch));
  });
}

/**
 * Proves the open pull requests of a repository that wants that for all of them, if their events were lost, if their latest proof
 * is about another head, base branch or settings or counts no longer, or if the minutes of another day were used up, or the settings
 * could not be used.
 */
export async function proveMissed(app: App, place: Place, isOver: () => boolean): Promise<void> {
  const { repository } = place;
  const em = app.db.manager;
  const since = await heardUntil(em, repository.id);
  const held = await listHeldNumbers(em, repository.id);
  const hasAny = since !== undefined || held.length > 0 || (await wasRequired(em, repository.id)) !== undefined;
  const settings = hasAny ? await readSettings(place) : noSettings;
  if (!mayWant(settings) && held.length === 0) return;
  const pulls = await listOpenPulls(place.octokit, place.name);
  const changed = pulls.filter(({ updatedAt }) => mayWant(settings) && since !== undefined && updatedAt >= since);
  if (mayWant(settings)) {
    await proveAgain(app, repository.id, await listDoubtful(em, repository.id, pulls), changedBase);
    await proveWithSettings(app, place, settings, pulls);
  }
  // They may have been closed or opened since, which changes what counts for their heads.
  for (const { number, headSha } of changed) {
    await mirrorProof(app, { repositoryId: repository.id, number });
    await showHeadAgain(app, { repositoryId: repository.id, headSha });
  }
  const numbers = changed.map(({ number }) => number);
  const missed = mayWant(settings) ? await listUnknown(em, repository.id, pulls, numbers) : [];
  const forks = new Map(pulls.filter(({ isFork }) => isFork).map((pull) => [pull.number, pull]));
  const all = [...new Set([...held, ...missed])];
  await eachThenFail(
    all.filter((number) => !forks.has(number)),
    async (number) => {
      if (!isOver()) await proveIfAllowed(app, place, number, false);
    },
  );
  await proveForks(
    app,
    place,
    all.flatMap((number) => forks.get(number) ?? []),
    isOver,
  );
}

/** Proves pull requests from forks as far as strangers may use GitHub's hour. Those of members who have forks wait with them. */
async function proveForks(app: App, place: Place, pulls: ListedPull[], isOver: () => boolean): Promise<void> {
  const { owner, repo } = place.name;
  for (const { number, headSha, base } of pulls) {
    const url = `${app.config.GITHUB_SERVER_URL}/${owner}/${repo}/pull/${number}`;
    await holdJudged(app, place.repository, { number, headSha, base, author: null, url, isForeign: true });
  }
  const { id: repositoryId } = place.repository;
  await eachThenFail(pulls, async ({ number }) => {
    if (isOver()) return;
    const pauseMs = pauseOfStrangers(app.metrics, place.installationId, `${owner}/${repo}`);
    if (pauseMs === undefined) return forStranger(() => proveIfAllowed(app, place, number, false));
    const job = { repositoryId, number, isOfStranger: true };
    await app.queue.send(undefined, 'proof', job, { key: `${repositoryId} ${number}`, afterSeconds: pauseMs / 1000 });
  });
}

/**
 * Has those open pull requests proved again that were proved, or are being proved, with other settings than those of the default
 * branch now. `push` is what an event says of that branch.
 */
export async function proveAfterSettings(
  app: App,
  place: Place,
  push?: { branch: string; after: string },
): Promise<void> {
  if ((await wasRequired(app.db.manager, place.repository.id)) === undefined) return;
  await urgently(async () => {
    // Right after a push, GitHub may still answer with the files of before it. An event may also be old.
    const isLast =
      push !== undefined &&
      (await readRepository(place))?.default_branch === push.branch &&
      (await headOf(place, push.branch)) === push.after;
    const settings = await readSettings(place, isLast ? push.after : undefined);
    if (mayWant(settings))
      await proveWithSettings(app, place, settings, await listOpenPulls(place.octokit, place.name));
  });
}

async function proveWithSettings(
  app: App,
  { repository: { id } }: Place,
  settings: RepositorySettings | undefined,
  pulls: OpenPull[],
): Promise<void> {
  // Nothing was proved with settings that cannot be used, so all check runs are about others.
  const rules = settings === undefined ? '' : rulesOfProofs(settings);
  const numbers = await listWithOtherRules(app.db.manager, id, pulls, rules);
  // If the settings cannot be used, what they said last counts.
  if (settings !== undefined) {
    const isRequired = settings.prove.everyone === 'required';
    const isNew = await storeRulesOfProofs(app.db.manager, id, rulesForEverybody(settings));
    if (isNew) for (const { headSha } of pulls) await showHeadAgain(app, { repositoryId: id, headSha });
    const changed = await requireProofs(app.db.manager, id, pulls, isRequired);
    await rememberRequired(app.db.manager, id, isRequired);
    for (const number of new Set(changed)) await mirrorProof(app, { repositoryId: id, number });
  }
  await proveAgain(app, id, numbers, 'the settings have changed, and it is being proved again');
}

/** Reads the settings of the default branch, or those at a commit of it; undefined if they cannot be used. */
async function readSettings({ octokit, name }: Place, ref?: string): Promise<RepositorySettings | undefined> {
  return settingsOnGitHub(octokit, ref === undefined ? name : { ...name, ref }).catch((error) => {
    if (error instanceof RunFailed) return undefined;
    throw error;
  });
}

/** Whether a repository wants a proof of every pull request, or may, because its settings cannot be used. */
const mayWant = (settings: RepositorySettings | undefined) => settings?.prove.everyone !== false;

/** Asks for a proof that nobody waits for. What the state forbids is logged; everything else is thrown. */
async function proveIfAllowed(app: App, { repository }: Place, number: number, again: boolean): Promise<void> {
  await askForProof(app, { repository, number, askedBy: null, again }).catch(async (error) => {
    const isExpected = error instanceof Refused || (error instanceof AppError && error.status !== 502);
    if (!isExpected) throw error;
    await forgetHeld(app.db.manager, { repositoryId: repository.id, number });
    app.log.info({ err: error, number }, 'a pull request is not proved');
  });
}

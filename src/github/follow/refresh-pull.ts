import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { PullRequestRow, PullStatus } from '../../db/tables/task.ts';
import { RunFailed } from '../../domain/run.ts';
import type { TaskEvent } from '../../domain/task.ts';
import { AppError } from '../../errors.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { endMerging } from '../../repositories/merging/store.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import { answeredAt, isAddressOf, pullStatus } from '../../repositories/pulls.ts';
import { demandsEvidence } from '../../repositories/settings/repository-settings.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { isCommitOfRun } from '../../runs/journal.ts';
import { cancelIfRunning } from '../../runs/operations.ts';
import { mirrorProof, showHeadAgain } from '../../runs/pull-proofs/ask-proof.ts';
import { collisionsChanged } from '../../tasks/collisions/look.ts';
import { queueMirror, recheckTask, tryMoveTask } from '../../tasks/move.ts';
import { voidEvidence } from '../../worker/proof/publish-proof.ts';
import { placeOfRepository } from '../app/place.ts';
import { eachThenFail } from '../each-apart.ts';
import { forgetShownCheck } from '../mirror/mirror-store.ts';
import {
  countMergeableAsk,
  findPull,
  getPull,
  isUnreadyCommit,
  listUnmergedPulls,
  lockPull,
  type PullKey,
  resetMergeableAsks,
  updatePull,
} from '../store.ts';
import { followMerging } from './merging/follow-merging.ts';
import { refreshDiffLater } from './refresh-diff.ts';
import { reviseUnasked } from './revise-unasked.ts';
import { type Kept, keepStacked, landingOf, type Merge, moveStacked } from './stack.ts';

/** The base branch is merged into one pull request at most this many times. Then a person is asked to look. */
const maxMerges = 2;
/**
 * GitHub computes in the background whether a pull request can be merged. Until it knows, we ask again after this many
 * seconds, at most this many times.
 */
const askAgainSeconds = 15;
const maxAsks = 8;

/** Starts a revision that merges the base branch into a pull request, if the two conflict. */
async function lookForConflict(
  app: App,
  pull: PullRequestRow,
  seen: { mergeable: boolean | null; head: { sha: string }; base: { sha: string } },
): Promise<void> {
  const at = { repositoryId: pull.repositoryId, number: pull.number };
  if (seen.mergeable === null) {
    if ((await countMergeableAsk(app.db, at)) < maxAsks)
      await app.queue.send(undefined, 'pull', at, { key: `${pull.url} later`, afterSeconds: askAgainSeconds });
    return;
  }
  await resetMergeableAsks(app.db, at);
  if (seen.mergeable) return;
  await reviseUnasked(app, pull, {
    source: 'conflict',
    cause: `${seen.head.sha}-${seen.base.sha}`,
    text: `The branch conflicts with its base branch. Merge the base branch in and keep what both sides meant.`,
    most: maxMerges,
    tooOften: `it conflicts with its base again, after ${maxMerges} merges by the agent; a person should look`,
  });
}

/**
 * Reads a pull request from GitHub and moves its task accordingly. A merge finishes the task, closing closes it, and
 * reopening reopens it. The state comes from GitHub, not from an event, so lost, repeated and late events do no harm.
 * `isPushed` says that the head has changed since we saw it last, even if it is the same commit again by now. `looks` asks
 * for the merge queue, too, which only GraphQL shows.
 */
export async function refreshPull(
  app: App,
  octokit: Octokit,
  name: Name,
  { repositoryId, number }: PullKey,
  { isPushed = false, looks = false }: { isPushed?: boolean; looks?: boolean } = {},
) {
  // One lock covers reading and storing, so that an older reading cannot overwrite a newer one.
  return app.db.withLock(lockOf({ repositoryId, number }), async () => {
    const stored = await getPull(app.db.manager, repositoryId, number);
    const { data, status } = await readAndSettle(app, octokit, name, stored, isPushed);
    const isSettled = status === 'merged' || status === 'closed';
    const hasAutoMerge = data.auto_merge != null;
    const headSha = data.head.sha;
    const merging = { octokit, name, pull: stored, hasAutoMerge };
    const whileOpen = [() => lookForConflict(app, stored, data), () => followMerging(app, merging, looks)];
    await eachThenFail(isSettled ? [] : whileOpen, (part) => part());
    return { status, headSha, base: data.base.ref, isBehind: data.mergeable_state === 'behind' };
  });
}

/** Returns the name of the lock of a pull request. */
export const lockOf = ({ repositoryId, number }: PullKey) => `pull ${repositoryId}#${number}`;

interface Name {
  owner: string;
  repo: string;
}

/** Reads a pull request. @throws AppError 502 for an answer that says nothing, such as the empty page of a proxy in front of GitHub */
export async function readPull(octokit: Octokit, name: Name, { number, url }: Pick<PullRequestRow, 'number' | 'url'>) {
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const answer = await octokit.request(path, { ...name, pull_number: number });
  if (typeof answer.data?.state === 'string') return answer;
  throw new AppError(502, `GitHub's answer does not say in which state ${url} is. Try again.`);
}

async function readAndSettle(app: App, octokit: Octokit, name: Name, stored: PullRequestRow, isPushed: boolean) {
  const answer = await readPull(octokit, name, stored);
  const { data } = answer;
  const status = pullStatus(data);
  const isSettled = status === 'merged' || status === 'closed';
  if (isSettled && status !== stored.status) await cancelIfRunning(app, stored.taskId);
  const headSha = data.head.sha;
  const { isStill, isOfOther } = isSettled
    ? { isStill: false, isOfOther: false }
    : await lookAtHead(app, octokit, name, stored, headSha);
  const { base, merge, elsewhere = null } = await baseOf(app, octokit, name, { stored, status, data });
  // Somebody may have changed the base on GitHub, which we do not follow: GitHub would merge it there.
  const isElsewhere = (agreed: string | null) => !isSettled && agreed !== null && data.base?.ref !== agreed;
  // The new base is stored last, so that a worker that takes over repeats the rest.
  const isUnproved =
    !isSettled &&
    (base !== stored.baseBranch || isElsewhere(base)) &&
    (await voidForBase(app, octokit, name, { ...stored, body: data.body ?? '' }));
  const lacksProof = (agreed: string | null, isMoved: boolean) => isUnproved && (isMoved || isElsewhere(agreed));
  await app.db.transaction(async (em) => {
    const before = await lockPull(em, stored.repositoryId, stored.number);
    // A run may have stored another base, or another commit, since we read the row.
    const baseBranch = base === stored.baseBranch ? before.baseBranch : base;
    const isSame = before.unreadySha === stored.unreadySha;
    // Nobody has looked at what a merge into another branch would do.
    const isMoved = baseBranch !== before.baseBranch;
    const wasUnready = await comesToUnready(em, before, headSha, isOfOther);
    const proof = { isUnproved: lacksProof(baseBranch, isMoved), merge };
    const now = { status, headSha, isStill: isStill && isSame, wasUnready, ...proof };
    await updatePull(em, before, {
      unreadySha: unreadyAfter(before, now),
      status,
      headSha,
      baseBranch,
      mergedElsewhere: elsewhere,
      headSince: isPushed || isMoved || before.headSha !== headSha ? answeredAt(answer) : before.headSince,
      additions: data.additions,
      mergedAt: data.merged_at === null ? null : new Date(data.merged_at),
      // The pull request of an earlier run no longer counts for the task, unless somebody reopened it.
      counts: before.counts || !isSettled,
    });
    for (const event of eventsOf(before.status, status)) await tryMoveTask(app, em, stored.taskId, event);
    await lookAgain(app, em, before, { status, headSha, isMoved });
    if (isSettled) await settle(app, em, before, { status, baseBranch, mergedElsewhere: elsewhere });
    else await refreshDiffLater(app, em, before);
    await queueMirror(app, em, stored.taskId);
  });
  return { data, status };
}

interface Read {
  stored: PullRequestRow;
  status: PullStatus;
  /** What GitHub shows. */
  data: Parameters<typeof keepStacked>[4];
}

/** Returns where a pull request goes, or went. */
async function baseOf(app: App, octokit: Octokit, name: Name, { stored, status, data }: Read): Promise<Kept> {
  if (status === 'closed') return { base: stored.baseBranch };
  if (status === 'merged') return landingOf(octokit, name, { em: app.db.manager, pull: stored, into: data.base?.ref });
  return keepStacked(app, octokit, name, stored, data);
}

/**
 * Forgets what a pull request collided with when it was settled, and looks again when it was pushed, moved or reopened. In all these
 * cases the check runs of the head that it had, and of the one that it has, may have to show something else, too.
 */
async function lookAgain(
  app: App,
  em: EntityManager,
  before: PullRequestRow,
  { status, headSha, isMoved }: Pick<PullRequestRow, 'status' | 'headSha'> & { isMoved: boolean },
): Promise<void> {
  const isSettled = status === 'merged' || status === 'closed';
  if (!isSettled && !isMoved && before.headSha === headSha && before.status !== 'closed') return;
  await collisionsChanged(app, em, before, isSettled);
  // Another task may have shown the commit since it was closed, and may be deleted by now.
  if (!isSettled && before.status === 'closed')
    for (const taskId of await forgetShownCheck(em, before.repositoryId, { number: before.number }))
      await recheckTask(app, taskId, em);
  for (const each of new Set([before.headSha, headSha]))
    if (each !== null) await showHeadAgain(app, { repositoryId: before.repositoryId, headSha: each }, em);
  await mirrorProof(app, before, em);
}

/**
 * Does what follows when a pull request was merged or closed. It belongs to the transaction that stores the status, because
 * nobody reads a closed pull request again.
 */
async function settle(
  app: App,
  em: EntityManager,
  before: PullRequestRow,
  now: Pick<PullRequestRow, 'status' | 'baseBranch' | 'mergedElsewhere'>,
): Promise<void> {
  await endMerging(em, before, null);
  if (now.status === 'merged' && before.status !== 'merged') await moveStacked(app, em, { ...before, ...now });
}

/**
 * Says in a pull request that moves to another base that it was not checked for it. Returns whether it is therefore not
 * ready.
 */
async function voidForBase(
  app: App,
  octokit: Octokit,
  name: Name,
  { number, url, body }: Pick<PullRequestRow, 'number' | 'url'> & { body: string },
): Promise<boolean> {
  try {
    await voidEvidence(octokit, { ...name, pull_number: number }, body, 'base');
  } catch (error) {
    if (!isRefusedWith(error, 403, 404, 422)) throw error;
    app.log.info({ err: error, pull: url }, 'GitHub does not let us void the evidence in a pull request');
  }
  return needsEvidence(octokit, name);
}

/** Reads every pull request of a task that is not merged. */
export async function refreshPullsOf(app: App, taskId: string): Promise<void> {
  await eachThenFail(await listUnmergedPulls(app.db.manager, taskId), async (pull) => {
    const place = await placeOfRepository(app, pull.repositoryId);
    if (place !== undefined) await refreshPull(app, place.octokit, place.name, pull);
  });
}

/** Handles the `pull` job. */
export async function refreshPullJob(app: App, at: { repositoryId: string; number: number }): Promise<void> {
  const stored = await findPull(app.db.manager, at.repositoryId, at.number);
  const place = stored && (await placeOfRepository(app, at.repositoryId));
  if (stored && place) await refreshPull(app, place.octokit, place.name, stored);
}

/**
 * Returns what a pull request's change of status means for its task. A pull request that was already closed returns no
 * event, because a new run may have started since.
 */
function eventsOf(before: PullRequestRow['status'], now: PullRequestRow['status']): TaskEvent[] {
  if (now === 'merged') return ['finish'];
  // When the last open pull request is closed and others were merged, the task is done.
  if (now === 'closed') return before === 'closed' ? [] : ['close', 'finish'];
  return before === 'closed' ? ['reopen'] : [];
}

/** At most this many commits of ours are read. If the one that is not ready is not among them, the head is not ready. */
const maxCommits = 20;

/** Returns whether the branch has come to a commit of another task, or to one that was not ready in any pull request. */
async function comesToUnready(em: EntityManager, before: PullRequestRow, headSha: string, isOfOther: boolean) {
  return headSha !== before.headSha && (isOfOther || (await isUnreadyCommit(em, before.repositoryId, headSha)));
}

/** A commit, made by a run of the pull request's own task, by another run or the service itself, or by a person. */
interface SeenCommit {
  sha: string;
  by: 'own task' | 'service' | 'person';
  isMerge: boolean;
}

/** What the commits of a new head say about whether it is ready. */
interface HeadCommits {
  /**
   * It has only commits of ours after the one that is not ready: merges of the base branch, which prove nothing, and commits
   * of runs, which say for themselves that they are ready. The response to a merge may be lost, and "Update branch" names
   * no commit, so the head is looked at whenever it has changed.
   */
  isStill: boolean;
  /**
   * A run of another task made it, whose checks and proof were for other files or another base. Merges of the base on top of
   * it make no difference. The other task may be deleted: then the author of the commit says that it is ours.
   */
  isOfOther: boolean;
}

/** Looks at the commits of a pull request's new head. */
export async function lookAtHead(
  app: App,
  octokit: Octokit,
  name: RepoName,
  pull: Pick<PullRequestRow, 'taskId' | 'headSha' | 'unreadySha'>,
  headSha: string,
): Promise<HeadCommits> {
  if (headSha === pull.headSha || headSha === pull.unreadySha) return { isStill: false, isOfOther: false };
  const commits = await commitsFrom(app, octokit, name, pull, headSha);
  const isTooLong = commits.length === maxCommits && commits.at(-1)?.by !== 'person';
  const isStill = pull.unreadySha !== null && (isTooLong || commits.some(({ sha }) => sha === pull.unreadySha));
  const before = commits.findIndex(({ sha }) => sha === pull.headSha);
  const newOnes = before < 0 ? commits : commits.slice(0, before);
  const first = newOnes.find(({ by, isMerge }) => by !== 'service' || !isMerge);
  return {
    isStill,
    isOfOther: first === undefined ? isTooLong && newOnes.length === maxCommits : first.by === 'service',
  };
}

/**
 * Reads a commit, its first parent, and so on, up to the first of a person, the one that is not ready, or one that cannot be
 * read. Where none is known to be unready, the first commit that is no merge is enough.
 */
async function commitsFrom(
  app: App,
  octokit: Octokit,
  name: RepoName,
  { taskId, unreadySha }: Pick<PullRequestRow, 'taskId' | 'unreadySha'>,
  head: string,
): Promise<SeenCommit[]> {
  const em = app.db.manager;
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/git/commits/{commit_sha}';
  const read = (commit_sha: string) => unlessMissing(octokit.request(path, { ...name, commit_sha }));
  const found: SeenCommit[] = [];
  let sha: string | undefined = head;
  while (sha !== undefined && found.length < maxCommits) {
    const commit: Awaited<ReturnType<typeof read>> = await read(sha);
    if (commit === undefined) break;
    const isOfBot = bot !== undefined && isAddressOf(bot, commit.author.email);
    const isOurs = isOfBot || (await isCommitOfRun(em, sha));
    const by = !isOurs ? 'person' : (await isCommitOfRun(em, sha, taskId)) ? 'own task' : 'service';
    const isMerge = commit.parents.length > 1;
    found.push({ sha, by, isMerge });
    if (by === 'person' || sha === unreadySha || (unreadySha === null && !isMerge)) break;
    sha = commit.parents[0]?.sha;
  }
  return found;
}

/** Returns whether changes of a repository need checks or a proof to be ready. Settings that cannot be used require it. */
export async function needsEvidence(octokit: Octokit, name: RepoName): Promise<boolean> {
  try {
    return demandsEvidence(await settingsOnGitHub(octokit, name));
  } catch (error) {
    if (error instanceof RunFailed) return true;
    throw error;
  }
}

interface Now {
  status: PullStatus;
  headSha: string;
  /** See `HeadCommits`. */
  isStill: boolean;
  /** The branch has come to a commit that was not ready, here or in another pull request, or to one of another task. */
  wasUnready: boolean;
  /** It has moved to another base, or somebody has moved it, and it needs checks or a proof there. */
  isUnproved: boolean;
  /** What merged its base into its branch since its head was read. */
  merge: Merge | undefined;
}

/** Returns the commit with which a pull request may not be merged from now on. */
export function unreadyAfter(
  before: Pick<PullRequestRow, 'status' | 'headSha' | 'unreadySha'>,
  { status, headSha, isStill, wasUnready, isUnproved, merge }: Now,
): string | null {
  if (isUnproved) return merge?.to ?? headSha;
  const unready = isStill || wasUnready ? headSha : before.unreadySha;
  // A person may decide that a draft is ready although its commit was not checked. They decide about the head that it had: one that was
  // pushed since they looked stays as it is.
  if (before.status === 'draft' && status === 'open' && unready === headSha && before.headSha === headSha) return null;
  // Our own merge of the base makes nothing ready.
  return merge !== undefined && unready !== null && unready === merge.from ? merge.to : unready;
}

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { lockUntilCommit } from '../../db/locks.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { Refused } from '../../domain/machine.ts';
import { liveStatuses } from '../../domain/run.ts';
import { oneLine, storableText } from '../../domain/text/sanitize.ts';
import { rightOf } from '../../repositories/permission.ts';
import { rulesForEverybody, rulesOfProofs } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { mentionsInSettings } from '../../repositories/settings/settings-on-github.ts';
import { moveTask, queueMirror } from '../../tasks/move.ts';
import { setTaskFields } from '../../tasks/store.ts';
import { isCommitOfRun } from '../journal.ts';
import { storeRulesOfProofs } from '../proof/proof-store.ts';
import { cancelLive, insertHidden, maxBody, mayWrite, settingsFor } from '../reviewing/ask.ts';
import { assertHeadSeen, isFork, type ReadPull, readPull } from '../reviewing/read-pull.ts';
import { findAsk, findTaskOfPull, findTaskOfReviewed, insertAsk, type PullRef } from '../reviewing/store.ts';
import { findLiveRun, insertRun, lockRun } from '../store.ts';
import { askAgain, hasProofsOfHead, leaveToPeople, outdateProof } from './outdated-proofs.ts';
import {
  findPullProof,
  forgetHeld,
  isLatestProof,
  markLatestProof,
  minutesToday,
  type ProofHold,
  type PullProof,
  type RulesOfProof,
  upsertPullProof,
  wasRequired,
} from './pull-proofs.ts';

export interface AskingForProof {
  repository: RepositoryRow;
  number: number;
  /** The user who asked; null when the repository wants a proof of every pull request. */
  askedBy: string | null;
  /** When the person asked; undefined where that is now. */
  writtenAt?: Date | undefined;
  /** Whether the head is tried again although it was judged: its base branch is another one. */
  again?: boolean;
  /** Called in the same transaction, after the proof is queued. */
  also?: ((em: EntityManager) => Promise<void>) | undefined;
}

/**
 * Queues a run that finds out what the tests of a pull request prove, or stores why it has to wait. No model is asked. At
 * most one run of a pull request is live: that of an older head is cancelled. Without `askedBy`, nothing happens where the
 * repository does not want it, or the head is known already. If the settings cannot be used, the check run of each head says so
 * once, where the file speaks of proofs or some were made before.
 * @throws Refused when the pull request forbids it; AppError 404 for an unknown pull request, 502 when GitHub cannot be
 * asked, 503 when a git credential is missing
 */
export async function askForProof(app: App, asking: AskingForProof): Promise<void> {
  const { repository, number, askedBy } = asking;
  const read = await readPull(app, repository, number);
  const { pull } = read;
  if (pull.state !== 'open') throw new Refused(`Pull request ${number} is closed. Reopen it first.`);
  const at = { repositoryId: repository.id, number };
  // A person may have asked for a proof of the head, and it may count no longer, or again.
  if (askedBy === null && (await isOwn(app, repository, pull))) {
    await leaveToPeople(app.db.manager, at, { headSha: pull.head.sha, base: pull.base.ref });
    await showHeadAgain(app, { repositoryId: repository.id, headSha: pull.head.sha });
    return mirrorProof(app, at);
  }
  const settings = await settingsFor(read).catch((error) => {
    if (askedBy === null && error instanceof Refused) return error;
    throw error;
  });
  if (settings instanceof Refused) return holdForSettings(app, asking, read, settings.message);
  if (askedBy === null && settings.prove.everyone === false) return releaseUnwanted(app, asking, pull.head.sha);
  const isForeign = await isOfStranger(read);
  if (isForeign && askedBy !== null) await assertHeadSeen(app, repository, pull, asking.writtenAt);
  const found = {
    ...read,
    settings,
    isForeign,
    byWriter: askedBy !== null && (await mayWrite(app, askedBy, repository)),
  };
  await app.db.transaction((em) => storeIn(app, em, asking, found));
}

/** Shows again what is known about the heads of a pull request, if a proof was ever wanted. */
export async function mirrorProof(app: App, at: PullRef, em?: EntityManager): Promise<void> {
  const taskId = await findTaskOfReviewed(em ?? app.db.manager, at, 'proof');
  if (taskId !== undefined) await queueMirror(app, em, taskId);
}

/**
 * Has the check run of a head shown again, if it has one. What it shows depends on all pull requests with the head, those of tasks
 * too, which have no proof of their own that `mirrorProof` could find. A job that waits has a key of its own, so that it does not delay one that need not.
 */
export async function showHeadAgain(
  app: App,
  head: Pick<PullProof, 'repositoryId' | 'headSha'>,
  em?: EntityManager,
  afterSeconds?: number,
) {
  if (!(await hasProofsOfHead(em ?? app.db.manager, head))) return;
  const { repositoryId, headSha } = head;
  const key = `${repositoryId} ${headSha}${afterSeconds === undefined ? '' : ' later'}`;
  await app.queue.send(
    em,
    'proofCheck',
    { repositoryId, headSha },
    { key, ...(afterSeconds !== undefined && { afterSeconds }) },
  );
}

/** Stores that a head waits for settings that can be used. */
async function holdForSettings(app: App, asking: AskingForProof, read: ReadPull, reason: string): Promise<void> {
  const { octokit, name, pull } = read;
  const { repository, number } = asking;
  const isNamed = await mentionsInSettings(octokit, name, 'prove');
  const at = { repositoryId: repository.id, number };
  const headSha = pull.head.sha;
  const isForeign = await isOfStranger(read);
  await app.db.transaction(async (em) => {
    await lockUntilCommit(em, 'reviews', repository.id);
    const known = await findPullProof(em, at, headSha);
    const isRequired = await wasRequired(em, repository.id);
    // It becomes the row that says what was required last.
    if (known !== undefined && (await staysShown(em, known, { asking, base: pull.base.ref, reason })))
      return markLatestProof(em, known.id, isRequired === undefined ? undefined : { isRequired });
    app.log.warn({ repositoryId: repository.id, number, reason }, 'the settings of a repository cannot be used');
    // Where nothing was ever proved and the file does not speak of it, nobody waits for a check run.
    if (isRequired === undefined && !isNamed) return;
    const taskId =
      (await findTaskOfReviewed(em, at, 'proof')) ?? (await insertHidden(app, em, asking, 'proof', pull.html_url));
    await forgetHeld(em, at);
    const author = pull.user?.login ?? null;
    const base = pull.base.ref;
    const proof = {
      ...at,
      headSha,
      base,
      author,
      runId: null,
      isRequired: isRequired ?? false,
      minutesPerDay: null,
      rules: null,
    };
    await upsertPullProof(em, { ...proof, hold: 'settings', isForeign, reason });
    await queueMirror(app, em, taskId);
  });
}

/** Returns whether what a check run says stays right while the settings cannot be used, for a reason. */
async function staysShown(
  em: EntityManager,
  proof: PullProof,
  { asking, base, reason }: { asking: AskingForProof; base: string; reason: string },
): Promise<boolean> {
  if (isReleased(proof) || (proof.hold === 'settings' && proof.reason !== reason)) return false;
  if (proof.base !== null && proof.base !== base) return false;
  // The base branch may have taken in commits since something was found out.
  return proof.status === null || (!asking.again && !proof.isOutdated && (await isLatestProof(em, proof.id)));
}

/** Stores that a head waits no longer, because the settings can be used again and want no proof. */
async function releaseUnwanted(app: App, { repository, number }: AskingForProof, headSha: string): Promise<void> {
  const at = { repositoryId: repository.id, number };
  await app.db.transaction(async (em) => {
    const known = await findPullProof(em, at, headSha);
    const taskId = await findTaskOfReviewed(em, at, 'proof');
    if (known !== undefined) {
      // While it had another head, its base branch may have taken in commits of it.
      if (known.status !== null && !(await isLatestProof(em, known.id))) await outdateProof(em, at, askAgain);
      await markLatestProof(em, known.id);
    }
    if (taskId === undefined || known?.hold !== 'settings' || known.reason === null) return;
    await upsertPullProof(em, { ...known, isRequired: false, reason: null });
    await queueMirror(app, em, taskId);
  });
}

/**
 * Whether a pull request is that of a task of this project, and a run of the task made its head. All others are proved: those with a
 * commit that a person pushed or GitHub made, although anybody can name the service as the author of a commit; those of tasks of other
 * projects; and those of the service that no task has, because a writer can push any commit of a run to their branches.
 */
async function isOwn(app: App, { id }: RepositoryRow, { number, head }: ReadPull['pull']): Promise<boolean> {
  const em = app.db.manager;
  const taskId = await findTaskOfPull(em, id, number);
  return taskId !== undefined && isCommitOfRun(em, head.sha, taskId);
}

/**
 * Whether a pull request has code of somebody who may not write in the repository. GitHub knows no permissions of bots,
 * but only those that may write have a branch here.
 */
async function isOfStranger({ octokit, name, pull }: Omit<ReadPull, 'credential'>): Promise<boolean> {
  const { user } = pull;
  if (isFork(pull) || user === null) return true;
  return user.type !== 'Bot' && (await rightOf(octokit, name, user)).right !== 'write';
}

interface Found extends ReadPull {
  settings: RepositorySettings;
  isForeign: boolean;
  byWriter: boolean;
}

async function storeIn(app: App, em: EntityManager, asking: AskingForProof, found: Found): Promise<void> {
  const { repository, number, askedBy, again = false, also } = asking;
  const { pull, isForeign, byWriter } = found;
  const { prove } = found.settings;
  const at = { repositoryId: repository.id, number };
  const headSha = pull.head.sha;
  await lockUntilCommit(em, 'reviews', repository.id);
  const known = await findPullProof(em, at, headSha);
  const taskId =
    (await findTaskOfReviewed(em, at, 'proof')) ?? (await insertHidden(app, em, asking, 'proof', pull.html_url));
  const current = known && (await ifCurrent(em, known, pull.base.ref));
  // While it waits for a writer, there is no result yet that a change of the base branch could make wrong.
  if (askedBy === null && current !== undefined && (!again || current.hold === 'writer')) {
    await markLatestProof(em, current.id, current.status === null ? rulesIn(found.settings) : undefined);
    return queueMirror(app, em, taskId);
  }
  await endOlder(app, em, taskId, { headSha, isAsked: askedBy !== null });
  await forgetHeld(em, at);
  const author = pull.user?.login ?? null;
  const title = oneLine(storableText(pull.title), 150);
  await setTaskFields(em, taskId, { title: `#${number} ${title}`, base: pull.base.ref });
  const minutesPerDay = askedBy === null ? prove.minutesPerDay : null;
  const hold = await holdOf(em, at, { isForeign, byWriter, minutesPerDay });
  const proof = {
    ...at,
    headSha,
    base: pull.base.ref,
    author,
    ...rulesIn(found.settings),
    minutesPerDay,
    isForeign: isForeign && !byWriter,
  };
  await storeRulesOfProofs(em, repository.id, rulesForEverybody(found.settings), true);
  app.audit.note({ pullRequest: [null, pull.html_url] });
  await also?.(em);
  if (hold !== null) {
    await upsertPullProof(em, { ...proof, hold, runId: null });
    return queueMirror(app, em, taskId);
  }
  await moveTask(app, em, taskId, 'prove');
  const runId = await insertRun(em, {
    taskId,
    projectId: repository.projectId,
    agentId: null,
    startedBy: askedBy,
    isAutomatic: askedBy === null,
    directedBy: askedBy === null ? [] : [askedBy],
    kind: 'prove',
    instructions: '',
  });
  await insertAsk(em, {
    ...at,
    runId,
    headSha,
    headBranch: pull.head.ref,
    baseBranch: pull.base.ref,
    isFork: isFork(pull),
    byWriter,
    isForeign,
    title,
    body: storableText(pull.body ?? '').slice(0, maxBody),
    author,
  });
  await upsertPullProof(em, { ...proof, hold: null, runId });
  await app.queue.send(em, 'run', {});
}

/**
 * Returns a proof if nothing new has to be found out. Its base branch must be the same, and the pull request must have kept its head:
 * while it had another one, the base branch may have taken in commits of this one.
 */
async function ifCurrent(em: EntityManager, proof: PullProof, base: string): Promise<PullProof | undefined> {
  if ((proof.base !== null && proof.base !== base) || !isKept(proof)) return undefined;
  return proof.status === null || (await isLatestProof(em, proof.id)) ? proof : undefined;
}

/** Returns what settings say about proofs. */
export const rulesIn = (settings: RepositorySettings): RulesOfProof => ({
  rules: rulesOfProofs(settings),
  isRequired: settings.prove.everyone === 'required',
});

/** Whether nothing new has to be found out about a head: it was judged, is being tried, or waits for a person. */
function isKept({ status, hold, runStatus, createdAt, isOutdated }: PullProof): boolean {
  if (isOutdated) return false;
  if (hold === 'minutes') return createdAt.toISOString().slice(0, 10) === new Date().toISOString().slice(0, 10);
  return status !== null || hold === 'writer' || runStatus === 'failed' || isLive(runStatus);
}

/** Whether a stranger's pull request was closed while it waited, so that nothing says what became of its head. */
const isReleased = ({ isForeign, hold }: PullProof) => isForeign && hold === null;

const isLive = (status: PullProof['runStatus']) => status !== null && liveStatuses.includes(status);

async function holdOf(
  em: EntityManager,
  { repositoryId }: PullRef,
  { isForeign, byWriter, minutesPerDay }: { isForeign: boolean; byWriter: boolean; minutesPerDay: number | null },
): Promise<ProofHold | null> {
  if (isForeign && !byWriter) return 'writer';
  const isUsedUp = minutesPerDay !== null && (await minutesToday(em, repositoryId, null)) >= minutesPerDay;
  return isUsedUp ? 'minutes' : null;
}

/**
 * Cancels the live proof of an older head, because nobody would read it.
 * @throws Refused when the same head is being tried for a person who asked
 */
async function endOlder(
  app: App,
  em: EntityManager,
  taskId: string,
  { headSha, isAsked }: { headSha: string; isAsked: boolean },
): Promise<void> {
  const found = await findLiveRun(em, taskId);
  if (found === null) return;
  // A run that ends locks the run first and then its task. Using the same order here prevents a deadlock.
  await lockRun(em, found.id);
  const live = await findLiveRun(em, taskId);
  if (live === null) return;
  const ask = await findAsk(em, live.id);
  if (isAsked && ask?.headSha === headSha)
    throw new Refused('This commit is being proved. Its check run shows the result.');
  await cancelLive(app, em, live, 'A newer commit took the place of this one.');
}

/** Returns the hidden task and the head of the live proof of a pull request, if there is one. */
export async function findLiveProof(
  em: EntityManager,
  at: PullRef,
): Promise<{ taskId: string; headSha: string } | undefined> {
  const taskId = await findTaskOfReviewed(em, at, 'proof');
  const live = taskId === undefined ? null : await findLiveRun(em, taskId);
  const ask = live === null ? undefined : await findAsk(em, live.id);
  return live !== null && ask !== undefined ? { taskId: live.taskId, headSha: ask.headSha } : undefined;
}

/** Cancels the live proof that a hidden task stands for. */
export async function endProof(app: App, taskId: string, why: string): Promise<void> {
  await app.db.transaction(async (em) => {
    const found = await findLiveRun(em, taskId);
    if (found === null) return;
    await lockRun(em, found.id);
    const live = await findLiveRun(em, taskId);
    if (live !== null) await cancelLive(app, em, live, why);
  });
}

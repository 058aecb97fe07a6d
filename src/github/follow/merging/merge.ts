import { setTimeout as sleep } from 'node:timers/promises';
import type { App, Octokit, PacedRequest } from '../../../app.ts';
import type { RepositoryRow } from '../../../db/tables/project.ts';
import type { PullRequestRow } from '../../../db/tables/task.ts';
import { Refused } from '../../../domain/machine.ts';
import { movedText, unreadyText } from '../../../domain/merge-readiness.ts';
import { RunFailed } from '../../../domain/run.ts';
import type { MergeMethod } from '../../../domain/settings.ts';
import { oneLine } from '../../../domain/text/sanitize.ts';
import { mustHaveSeen } from '../../../domain/waiting.ts';
import type { RepoName } from '../../../git/remote-url.ts';
import { pauseAsked } from '../../../outgoing/github-errors.ts';
import { credentialFor, noCredential, octokitFor } from '../../../repositories/credentials.ts';
import { rightProblemIn } from '../../../repositories/rights.ts';
import type { RepositorySettings } from '../../../repositories/settings/schema.ts';
import { settingsOnGitHub } from '../../../repositories/settings/settings-on-github.ts';
import { findRepository } from '../../../repositories/store.ts';
import { findLiveRun } from '../../../runs/store.ts';
import { assertIsOther } from '../../../runs/waiting/approvers.ts';
import { getTask, type TaskView } from '../../../tasks/store.ts';
import { hasMergedPull, listOpenPulls } from '../../../tasks/work-store.ts';
import { httpStatusOf } from '../../app/place.ts';
import { candidateMethods } from '../look-at-pull.ts';
import { readPull, refreshPull } from '../refresh-pull.ts';
import { assertNothingBelow } from '../stack.ts';
import { updateBranch } from './update-branch.ts';

/** What a person merges. */
export interface MergeAsk {
  taskId: string;
  userId: string;
  /** An earlier attempt was interrupted; then it is a success if nothing is left to merge. */
  isAgain?: boolean | undefined;
  /** When they wrote the command. */
  writtenAt?: Date | undefined;
  /** The heads that they looked at. */
  heads?: { prUrl: string; headSha: string }[] | undefined;
}

/**
 * Merges every open pull request of a task, in the order in which their repositories were connected. Each is merged
 * only if its head is still the commit that we saw last, and the person may have seen it. They need write permission in all
 * of the repositories, which is asked for before the first one is merged.
 * @throws Refused with GitHub's reason and a list of what is merged already; AppError 403 without the permission, or if
 * somebody else has to merge it, 502 if GitHub cannot be asked, 503 without a credential
 */
export async function mergeTask(app: App, ask: MergeAsk): Promise<TaskView> {
  const before = await mergedBefore(app, ask);
  if (before !== undefined) return before;
  const merged: string[] = [];
  for (const target of await targetsToMerge(app, ask)) {
    await mergePull(app, target, merged);
    merged.push(target.pull.url);
  }
  return getTask(app.db.manager, ask.taskId);
}

/** Returns the task of an attempt that was interrupted, if nothing is left to merge. */
export async function mergedBefore(app: App, { taskId, isAgain = false }: MergeAsk): Promise<TaskView | undefined> {
  const em = app.db.manager;
  if (!isAgain || (await listOpenPulls(em, taskId)).length > 0 || !(await hasMergedPull(em, taskId))) return undefined;
  app.audit.note({});
  return getTask(em, taskId);
}

/** Returns what a person may merge of a task. @throws like `mergeTask` */
export async function targetsToMerge(app: App, { taskId, userId, ...seen }: MergeAsk): Promise<Target[]> {
  const task = await getTask(app.db.manager, taskId);
  const pulls = await listOpenPulls(app.db.manager, taskId);
  if (task.status === 'done' || task.status === 'waiting_on_subtasks')
    throw new Refused(
      `Only a task with an open pull request can be merged; this one is ${task.status === 'done' ? 'done' : 'waiting for its subtasks'}.`,
    );
  if ((await findLiveRun(app.db.manager, taskId)) !== null)
    throw new Refused('The task has an unfinished run. Wait for it to end, or cancel it, before you merge.');
  if (pulls.length === 0) throw new Refused('The task has no open pull request to merge.');
  const draft = pulls.find((p) => p.status === 'draft');
  if (draft !== undefined)
    throw new Refused(`The pull request ${draft.url} is a draft. Mark it ready for review before you merge.`);
  const unready = pulls.find((p) => p.unreadySha === p.headSha);
  if (unready !== undefined) throw new Refused(unreadyText(unready.url));
  for (const pull of pulls) await assertNothingBelow(app.db.manager, pull);
  for (const pull of pulls) assertHeadSeen(pull, seen);
  const repositoryIds = pulls.map(({ repositoryId }) => repositoryId);
  const problem = await rightProblemIn(app, [userId], repositoryIds, 'write');
  if (problem !== undefined) throw problem;
  const targets: Target[] = [];
  for (const pull of pulls) targets.push({ pull, ...(await settledTarget(app, pull)) });
  if (targets.some(({ settings }) => settings.approve === 'others'))
    await assertIsOther(app.db.manager, taskId, userId, 'you cannot merge it');
  return targets;
}

/** @throws Refused unless the head of a pull request was there when the person looked */
function assertHeadSeen(pull: PullRequestRow, { writtenAt, heads }: Pick<MergeAsk, 'writtenAt' | 'heads'>): void {
  const again = 'Look at the changes, then merge again.';
  if (!mustHaveSeen(writtenAt, pull.headSince))
    throw new Refused(`The head of ${pull.url} changed after this command was written. ${again}`);
  if (heads !== undefined && !heads.some((each) => each.prUrl === pull.url && each.headSha === pull.headSha))
    throw new Refused(`The head of ${pull.url} is not the commit that you looked at. ${again}`);
}

/** A pull request that is merged, with the client for its repository and what the repository's settings say. */
export interface Target extends Place {
  pull: PullRequestRow;
  settings: RepositorySettings;
}

interface Place {
  octokit: Octokit;
  name: RepoName;
  repository: RepositoryRow;
  /** The branch that it goes to. */
  base: string;
}

/** Returns the repository of a pull request and the client for it. @throws AppError 503 without a credential */
export async function targetOf(app: App, pull: Pick<PullRequestRow, 'repositoryId' | 'baseBranch'>): Promise<Place> {
  const repository = await findRepository(app.db.manager, pull.repositoryId);
  const credential = repository === null ? { kind: 'none' as const } : await credentialFor(app, repository);
  if (repository === null || credential.kind === 'none') throw noCredential();
  const name = { owner: credential.owner, repo: credential.repo };
  return {
    octokit: await octokitFor(app, credential),
    name,
    repository,
    base: pull.baseBranch ?? repository.defaultBranch,
  };
}

/** @throws Refused when the settings of the repository cannot be used; AppError 503 without a credential */
async function settledTarget(app: App, pull: PullRequestRow): Promise<Omit<Target, 'pull'>> {
  const place = await targetOf(app, pull);
  const settings = await settingsOnGitHub(place.octokit, place.name).catch((error) => {
    throw error instanceof RunFailed
      ? new Refused(
          `.deckhand.yml cannot be used in the repository ${place.repository.name}: ${oneLine(error.message, 2000)}`,
        )
      : error;
  });
  return { ...place, settings };
}

/** Merges a pull request now. @throws Refused with GitHub's reason */
export async function mergePull(app: App, target: Target, merged: string[]): Promise<void> {
  const { pull, octokit, name, base } = target;
  try {
    await mergeByAllowed(target);
  } catch (error) {
    if (error instanceof Refused || pauseAsked(error) !== undefined) throw error;
    // Somebody may have merged it already, or GitHub's response may have been lost. Its state on GitHub decides.
    const now = await app.audit.whileLooking(() => refreshPull(app, octokit, name, pull));
    if (now.status === 'merged') return;
    if (![403, 404, 405, 409, 422].includes(httpStatusOf(error))) throw error;
    const already = merged.length > 0 ? ` (merged already: ${merged.join(', ')})` : '';
    throw new Refused((await refusalText(target, error as Error, now.isBehind && now.base === base)) + already);
  }
  await refreshPull(app, octokit, name, pull);
}

/** Says why GitHub refused a merge, and what to do. Brings the branch up to date if that is what is missing. */
async function refusalText({ pull, octokit, name, settings }: Target, { message }: Error, isBehind: boolean) {
  const refused = `GitHub refused to merge ${pull.url}: ${oneLine(message, 400)}`;
  // GitHub's words end with an address, so advice after them would be overlooked.
  if (/merge queue/i.test(message))
    return `The base branch requires a merge queue. Use "merge when ready" instead, which adds the pull request to it. ${refused}`;
  if (!isBehind) return refused;
  // GitHub only says that checks are expected, although they may have succeeded.
  const isUpdated = settings.merge.update && (await updateBranch(octokit, name, pull));
  return isUpdated
    ? `${pull.url} was behind its base branch, which requires branches to be up to date. It is brought up to date now. Merge it when its checks have passed, or merge it when ready.`
    : `${refused} The branch is behind its base branch: update it on GitHub, then merge.`;
}

/**
 * Checks that a pull request still goes where it was opened for. Its author and everybody with write permission can change
 * its base, which does not change its head.
 * @throws Refused, and what `readPull` throws
 */
export async function assertBase(octokit: Octokit, name: RepoName, pull: PullRequestRow, base: string) {
  const { data } = await readPull(octokit, name, pull);
  // Hosts that only look like GitHub may leave out the base.
  const now: string | undefined = data.state === 'open' ? data.base?.ref : undefined;
  if (now === undefined || now === base) return;
  throw new Refused(movedText(pull.url, { to: now, from: base }));
}

/** Returns the option of a request that is sent only if the pull request still goes where it was opened for. */
export const whileAtBase = ({
  octokit,
  name,
  pull,
  base,
}: Pick<Target, 'octokit' | 'name' | 'pull' | 'base'>): PacedRequest => ({
  rightBefore: () => assertBase(octokit, name, pull, base),
});

async function mergeByAllowed(target: Target): Promise<void> {
  const { octokit, name, settings } = target;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}', name);
  const candidates = candidateMethods(data, settings.merge.method);
  for (const [i, merge_method] of candidates.entries())
    try {
      return await mergeBy(target, merge_method);
    } catch (error) {
      if (!isRefusedBecause(error, /not allowed/i) || i === candidates.length - 1) throw error;
    }
  throw new Refused('The repository allows no merge method. Allow squash, merge or rebase in its settings on GitHub.');
}

/** A merge of a base branch that has just changed is tried this many times, with this pause. */
const [mostTries, pauseMs] = [3, 1000];

/**
 * Merges without a title and a message, so that GitHub takes them as the repository's settings say. Somebody else's merge
 * may change the base branch while GitHub merges (https://github.com/cli/cli/issues/8092). GitHub takes no base with a merge, so
 * the base is read right before each try: somebody may change it during the pause, or while the request waits for its slot.
 */
async function mergeBy({ octokit, name, pull, base }: Target, merge_method: MergeMethod) {
  const path = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
  const request = whileAtBase({ octokit, name, pull, base });
  for (let tries = 1; ; tries++)
    try {
      await octokit.request(path, { ...name, pull_number: pull.number, sha: pull.headSha, merge_method, request });
      return;
    } catch (error) {
      if (tries === mostTries || !isRefusedBecause(error, /base branch was modified|merge already in progress/i))
        throw error;
      await sleep(pauseMs);
    }
}

function isRefusedBecause(error: unknown, reason: RegExp): boolean {
  return httpStatusOf(error) === 405 && reason.test((error as Error).message);
}

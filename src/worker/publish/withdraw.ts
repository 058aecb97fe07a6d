import type { App, Octokit } from '../../app.ts';
import { isDatabaseAway } from '../../db/database.ts';
import { LeaseLost, RunFailed } from '../../domain/run.ts';
import { graphqlRefusal } from '../../errors.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { stopMerging } from '../../repositories/merging/auto-merge.ts';
import { endMerging, findMerge } from '../../repositories/merging/store.ts';
import { type FoundPull, findPull, isDraftRefused, listPullsOfBranch, setDraft } from '../../repositories/pulls.ts';
import { stepOf } from '../../runs/journal.ts';
import { listPullsIn, setPullStatus } from '../../tasks/work-store.ts';
import { isDraft, voidEvidence } from '../proof/publish-proof.ts';
import { isChecked } from '../proof/run-checks.ts';
import { temporaryFault } from '../retry.ts';
import type { Work } from '../work.ts';

/** A pull request that is ready, or about to be merged, could not be taken back, so nothing may be pushed to it. */
export class StaysReady extends RunFailed {
  /** `what` says what could not be done. */
  constructor(what: string, cause: Error, isTransient: boolean) {
    const why = cause.message.replace(/\s+/g, ' ').slice(0, 300);
    super('push_rejected', `nothing was pushed, because ${what}: ${why}`);
    if (isTransient) this.failure.retryable = true;
  }
}

/**
 * Prepares the open pull request of a branch for a push. If the commits are not ready, it becomes a draft. If no new
 * evidence follows (`isProposed` is false), what it says about checks becomes void. GitHub no longer merges it when it is
 * ready, because whoever asked for that has not seen what is pushed. A push must wait for this, because
 * nobody may see unchecked commits in a ready pull request. Can be repeated until the push is recorded.
 * @throws StaysReady when GitHub refuses or does not respond
 */
export async function withdrawPull(app: App, work: Work, isProposed: boolean): Promise<void> {
  const { credential, branch, journal, task, repository } = work;
  if (!branch.continues || credential.kind === 'none' || credential.owner === '') return;
  if ((await journal.recall(stepOf('push', task, repository))) !== undefined) return;
  await takeBackMerges(app, work);
  const isUnready = isDraft(work);
  if (!isUnready && isProposed) return;
  const at = { owner: credential.owner, repo: credential.repo };
  const withdraw = async () => {
    const octokit = await octokitFor(app, credential);
    const known = await knownPulls(app, work);
    const found = await findPull(octokit, { ...at, head: branch.name, known, request: { signal: work.signal } });
    if (found === undefined) return;
    if (isUnready && found.status === 'open') await turnDraft(app, work, octokit, found);
    await voidEvidence(octokit, { ...at, pull_number: found.number }, found.body, 'push');
  };
  try {
    await work.retrying(withdraw);
  } catch (error) {
    if (error instanceof LeaseLost || work.signal.aborted || isDatabaseAway(error)) throw error;
    const what = 'the change is not ready and its pull request could not become a draft';
    throw new StaysReady(what, error as Error, temporaryFault(error) !== undefined);
  }
}

/**
 * Takes back what GitHub shows now: an event about its queue may have been lost. People may have opened further pull requests
 * from the branch, into any base, which are not stored. What is pushed appears in them, too.
 * @throws StaysReady when GitHub refuses or does not respond
 */
async function takeBackMerges(app: App, work: Work): Promise<void> {
  const { credential, branch, journal, task, repository } = work;
  if (credential.kind === 'none') return;
  const at = { owner: credential.owner, repo: credential.repo };
  const stored = (await listPullsIn(app.db.manager, task.id, repository.id)).filter(
    ({ headBranch, status }) => headBranch === branch.name && status !== 'merged',
  );
  for (const pull of stored) {
    const known = await findMerge(app.db.manager, pull);
    const isStopped = await stop(app, work, at, pull.number);
    if (!isStopped && known?.state == null) continue;
    const why = `Deckhand took back the merge of ${pull.url}, because the agent pushed a new commit. Look at it, then merge again.`;
    await journal.write((em) => endMerging(em, pull, why));
  }
  const list = async () =>
    listPullsOfBranch(await octokitFor(app, credential), {
      ...at,
      head: branch.name,
      request: { signal: work.signal },
    });
  const open = await work.retrying(list).catch((error) => {
    throw mayMerge(work, error as Error);
  });
  for (const { number, url } of open.filter((found) => !stored.some((pull) => pull.number === found.number)))
    if (await stop(app, work, at, number))
      await journal.note('pull', `took back the merge of ${url}, because it shows the branch of the agent`, { number });
}

/** Takes back one merge. Returns whether there was one. @throws StaysReady */
async function stop(app: App, work: Work, at: RepoName, number: number): Promise<boolean> {
  let isStopped = false;
  try {
    await work.retrying(async () => {
      // An attempt whose answer was lost may have stopped it.
      isStopped = (await takeBackMerge(await octokitFor(app, work.credential), at, number)) || isStopped;
    });
  } catch (error) {
    throw mayMerge(work, error as Error);
  }
  return isStopped;
}

/** Returns the error that stops a push while GitHub may merge it. */
function mayMerge(work: Work, error: Error): Error {
  if (error instanceof LeaseLost || work.signal.aborted || isDatabaseAway(error)) return error;
  const what = 'GitHub may merge the pull request when it is ready, and that could not be taken back';
  return new StaysReady(what, error, temporaryFault(error) !== undefined);
}

/**
 * Makes sure that GitHub does not merge a pull request when it is ready. Returns whether it took a merge back.
 * @throws an error of GitHub, also when GitHub does not say whether it merges
 */
async function takeBackMerge(octokit: Octokit, at: RepoName, number: number): Promise<boolean> {
  try {
    return await stopMerging(octokit, at, number);
  } catch (error) {
    if (!lacksQueues(error)) throw error;
    const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
    const { data } = await octokit.request(path, { ...at, pull_number: number });
    if (!data.auto_merge) return false;
    throw new Error('this host shows no merge queue, so Deckhand cannot end its auto-merge. Turn auto-merge off there');
  }
}

/** Returns whether a host has no merge queues: an older GitHub Enterprise Server, or one without GraphQL. */
function lacksQueues(error: unknown): boolean {
  return isRefusedWith(error, 404) || /^Field .* doesn't exist on type/.test(graphqlRefusal(error)?.reason ?? '');
}

/** Returns the numbers of the pull requests of a branch that may be open, newest first. */
export async function knownPulls(app: App, { task, repository, branch }: Work): Promise<number[]> {
  const pulls = await listPullsIn(app.db.manager, task.id, repository.id);
  return pulls
    .filter((pull) => pull.status !== 'merged' && pull.headBranch === branch.name)
    .map(({ number }) => number);
}

/** Turns a pull request into a draft. @throws an error of GitHub, or RunFailed, when nothing may be pushed to it */
async function turnDraft(app: App, work: Work, octokit: Octokit, found: FoundPull): Promise<void> {
  const { journal, task, repository } = work;
  const { number, headSha } = found;
  try {
    await setDraft(octokit, found, true);
  } catch (error) {
    if (!isDraftRefused(error)) throw error;
    // Without drafts, nobody takes a pull request for ready whose last commit was not: it was opened with a warning.
    const known = await listPullsIn(app.db.manager, task.id, repository.id);
    const isReady = !known.some((each) => each.number === number && each.unreadySha === headSha);
    if (isReady && !isChecked(work)) throw error;
    return;
  }
  await journal.write((em) => setPullStatus(em, repository.id, number, 'draft'));
  await journal.note('pull', `pull request ${found.url} is a draft until its commits are ready`, { number });
}

import type { App } from '../../../app.ts';
import { Refused } from '../../../domain/machine.ts';
import { oneLine } from '../../../domain/text/sanitize.ts';
import { graphqlRefusal } from '../../../errors.ts';
import {
  enableAutoMerge,
  enqueue,
  readMerge,
  type SeenMerge,
  stopMerging,
} from '../../../repositories/merging/auto-merge.ts';
import { endMerging, findMerge, listMergingPulls, noteAsked, setMerging } from '../../../repositories/merging/store.ts';
import { rightProblemIn } from '../../../repositories/rights.ts';
import { queueMirror } from '../../../tasks/move.ts';
import { getTask, type TaskView, touchTask } from '../../../tasks/store.ts';
import { candidateMethods } from '../look-at-pull.ts';
import { lockOf, refreshPull } from '../refresh-pull.ts';
import {
  assertBase,
  type MergeAsk,
  mergedBefore,
  mergePull,
  type Target,
  targetOf,
  targetsToMerge,
  whileAtBase,
} from './merge.ts';

/**
 * Lets GitHub merge every open pull request of a task when it is ready: by its merge queue where the base branch has one,
 * otherwise by its auto-merge. One to which nothing is missing is merged at once. Can be repeated: what GitHub does already
 * is not asked for again.
 * @throws like `mergeTask`
 */
export async function mergeWhenReady(app: App, ask: MergeAsk): Promise<TaskView> {
  const before = await mergedBefore(app, ask);
  if (before !== undefined) return before;
  const done: string[] = [];
  for (const target of await targetsToMerge(app, ask)) {
    const { pull, octokit, name } = target;
    const isNow = await app.db.withLock(lockOf(pull), () => beginMerging(app, target, ask.userId, done));
    if (isNow) await mergePull(app, target, done);
    // Brings the branch up to date where that is missing.
    else await refreshPull(app, octokit, name, pull);
    done.push(pull.url);
  }
  return getTask(app.db.manager, ask.taskId);
}

/** Lets GitHub merge a pull request when it is ready. Returns whether it can be merged now instead. */
async function beginMerging(app: App, target: Target, userId: string, done: string[]): Promise<boolean> {
  const { octokit, name, pull, base } = target;
  await assertBase(octokit, name, pull, base);
  const seen = await orRefused(pull.url, readMerge(octokit, name, pull.number));
  if (seen.headSha !== pull.headSha)
    throw new Refused(`The head of ${pull.url} has just changed. Look at the changes, then merge again.`);
  const em = app.db.manager;
  const known = await findMerge(em, pull);
  const isKnown =
    known?.state != null && known.askedBy === userId && known.headSha === pull.headSha && known.base === base;
  if (seen.merging !== null && isKnown) {
    app.audit.note({});
    return false;
  }
  // If this process ends before the answer arrives, the webhook finds out for which commit and base somebody asked.
  await noteAsked(em, pull, { askedBy: userId, base });
  if (seen.merging === null && (await askGitHub(target, seen, done)) === 'now') return true;
  const { merging } = seen.merging === null ? await readMerge(octokit, name, pull.number) : seen;
  // It was merged, or dropped, at the same moment; a reading of the pull request will say which.
  if (merging === null) return false;
  await app.db.transaction(async (tx) => {
    app.audit.note({ merging: [known?.state ?? null, merging.state] });
    await setMerging(tx, pull, merging);
    await touchTask(tx, pull.taskId);
    await queueMirror(app, tx, pull.taskId);
  });
  return false;
}

/** States of a pull request to which nothing is missing that its base branch requires. */
const complete = new Set(['CLEAN', 'HAS_HOOKS']);

/** GitHub refuses to wait for what is complete: "Pull request is in clean status". */
const isComplete = /in (clean|has_hooks) status/i;

async function askGitHub(target: Target, seen: SeenMerge, done: string[]): Promise<'now' | undefined> {
  const { octokit, name, pull } = target;
  if (complete.has(seen.mergeState) && !seen.hasQueue) return 'now';
  try {
    await (seen.hasQueue ? enqueueOrWait(target, seen) : enableByAllowed(target, seen));
  } catch (error) {
    // The answer may have been lost, or somebody else asked at the same moment.
    if ((await readMerge(octokit, name, pull.number)).merging !== null) return undefined;
    const refusal = graphqlRefusal(error);
    if (refusal === undefined) throw error;
    if (!seen.hasQueue && isComplete.test(refusal.reason)) return 'now';
    throw new Refused(explained(refusal.reason, pull.url, done));
  }
  return undefined;
}

/** @throws Refused when GraphQL does not answer about a pull request, as older servers do not */
async function orRefused<T>(url: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const refusal = graphqlRefusal(error);
    if (refusal === undefined) throw error;
    const reason = oneLine(refusal.reason, 300);
    throw new Refused(`GitHub does not say what it does to merge ${url}, or does not stop it: ${reason}`);
  }
}

/**
 * Adds a pull request to the merge queue. Until it may be added, GitHub's auto-merge waits, and adds it then. A repository
 * with a queue may have no auto-merge (https://github.com/cli/cli/issues/13398), so the queue comes first.
 */
async function enqueueOrWait(target: Target, seen: SeenMerge): Promise<void> {
  try {
    return await enqueue(target.octokit, seen, whileAtBase(target));
  } catch (error) {
    if (graphqlRefusal(error) === undefined) throw error;
    const { octokit, name, pull } = target;
    if ((await readMerge(octokit, name, pull.number)).merging === null) await enableByAllowed(target, seen);
  }
}

async function enableByAllowed(target: Target, seen: SeenMerge): Promise<void> {
  const { octokit, name, settings } = target;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}', name);
  const candidates = candidateMethods(data, settings.merge.method);
  for (const [i, method] of candidates.entries())
    try {
      return await enableAutoMerge(octokit, seen, method, whileAtBase(target));
    } catch (error) {
      const isMethod = /(merg\w+|commits|squash\w*|rebas\w+) (is|are) not allowed/i.test((error as Error).message);
      if (!isMethod || isOff.test((error as Error).message) || i === candidates.length - 1) throw error;
    }
}

const isOff = /auto.?merge is not allowed/i;

/** Says what GitHub's refusal means, and what to do. */
function explained(message: string, url: string, done: string[]): string {
  const already = done.length > 0 ? ` (asked for or merged already: ${done.join(', ')})` : '';
  if (isOff.test(message))
    return `The repository of ${url} does not allow auto-merge. Allow it in its settings on GitHub, or merge when nothing is missing any more.${already}`;
  if (/unstable status|branch rules not configured/i.test(message))
    return `GitHub does not wait for ${url}: its base branch requires nothing that is missing. Checks that are not required have failed or still run. Merge it when they have passed, or require them in the rules of the branch.${already}`;
  return `GitHub refused to merge ${url} when it is ready: ${oneLine(message, 400)}${already}`;
}

/**
 * Takes back that GitHub merges a task's pull requests when they are ready. `isAgain` means that an earlier attempt was
 * interrupted; then it is a success if nothing is left to take back.
 * @throws Refused when nothing is to be merged; AppError 403 without write permission, 502, 503
 */
export async function stopMergingTask(
  app: App,
  { taskId, userId, isAgain = false }: Pick<MergeAsk, 'taskId' | 'userId' | 'isAgain'>,
): Promise<void> {
  const em = app.db.manager;
  const pulls = await listMergingPulls(em, taskId);
  if (pulls.length === 0 && isAgain) return app.audit.note({});
  if (pulls.length === 0) throw new Refused('No merge of this task waits, so there is nothing to take back.');
  const repositoryIds = pulls.map(({ repositoryId }) => repositoryId);
  const problem = await rightProblemIn(app, [userId], repositoryIds, 'write');
  if (problem !== undefined) throw problem;
  for (const pull of pulls) {
    const { octokit, name } = await targetOf(app, pull);
    await app.db.withLock(lockOf(pull), async () => {
      await orRefused(pull.url, stopMerging(octokit, name, pull.number));
      const was = await findMerge(em, pull);
      await app.db.transaction(async (tx) => {
        app.audit.note({ merging: [was?.state ?? null, null] });
        await endMerging(tx, pull, null);
        await touchTask(tx, taskId);
        await queueMirror(app, tx, taskId);
      });
    });
  }
}

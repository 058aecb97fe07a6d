import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { type Ending, type JudgedEnding, ModelUnavailable } from '../conversation/ending.ts';
import type { Handoff } from '../conversation/handoff.ts';
import type { RunRow } from '../db/tables/run.ts';
import { commandFailed, type Failure, RunFailed, traitsOf, UploadRefused } from '../domain/run.ts';
import { ModelFailed } from '../llm/model.ts';
import { storeFailureHandoff } from '../runs/handoffs.ts';
import { concludeRun, type Journal, stepOf } from '../runs/journal.ts';
import { followRevisions } from '../runs/operations.ts';
import { answerComments, reopenComments } from '../runs/review/store.ts';
import { markUnchanged } from '../runs/store.ts';
import { tryMoveTask } from '../tasks/move.ts';
import { hasOpenPull, insertHandoff } from '../tasks/work-store.ts';
import { storeFailedTry } from './lab/try-item.ts';
import { changedWorks, lookUp, proposedWorks, readTrees, type TreeOf } from './leaving/changes.ts';
import { judgeChanges, rejection } from './leaving/objection.ts';
import { refreshRemote } from './open-work.ts';
import { findUnplanned, lacksPlan } from './plan.ts';
import { isDraft, isOnBase, recallProof, storeFailedProof, storeProof } from './proof/publish-proof.ts';
import { firstFailure, isChecked } from './proof/run-checks.ts';
import { assertMayShow, linkPulls, type Pushed, proposeWork, pushWork, pushWorks } from './publish/publish.ts';
import { StaysReady } from './publish/withdraw.ts';
import { asLostRace, assertMayPush, pullOfFix, tellFix } from './reviewing/conclude-fix.ts';
import { storeUnproved } from './reviewing/prove-for-people.ts';
import { splitTask } from './split.ts';
import { awaitPushApproval, needsApproval } from './waits.ts';
import { allWorks, type Work } from './work.ts';
import { keptStep } from './workspace/workspace.ts';

/**
 * Publishes the agent's work and moves its task: to waiting if the agent split it into subtasks, to review with a pull
 * request, or to done if nothing had to change. Publishes the files that were judged, whatever is in the workspace now.
 * @throws RunFailed when the service refuses the change or the checks fail; Parked when a person approves the change first
 */
export async function conclude(app: App, work: Work, ending: JudgedEnding): Promise<void> {
  const { finish, subtasks, unfit } = ending;
  const { task, journal } = work;
  for (const each of allWorks(work)) await refreshRemote(app, each);
  if (unfit !== undefined) throw rejection(unfit);
  const treeOf = lookUp(ending.trees);
  const changed = await changedWorks(work, treeOf);
  await giveEvidence(work, ending);
  assertPassed(work);
  if (work.run.kind === 'fix') return concludeFix(app, work, ending, changed);
  const proposed = await proposedWorks(work, changed);
  if (subtasks === undefined) for (const each of proposed) await recallProof(app, each);
  if (changed.length > 0) await pushChange(app, work, ending, changed);
  if (subtasks !== undefined) {
    await assertMayShow(app, work);
    return succeed(app, work, finish, (em) => splitTask(app, em, work.run, task, subtasks));
  }
  if (proposed.length > 0 && changed.length === 0) await storeProof(work, changed);
  const commits = await pushedCommits(changed);
  for (const each of proposed) await proposeWork(app, each, finish, isDraft(each));
  if (proposed.length > 1) await linkPulls(app, work);
  if (proposed.length > 0 || (await hasOpenPull(app.db.manager, task.id)))
    return succeed(app, work, finish, (em) => moveToReview(app, em, task.id), commits);
  await journal.note('loop', 'nothing had to be changed');
  const facts = { finishedUnchanged: true };
  await succeed(app, work, finish, (em) => tryMoveTask(app, em, task.id, 'finish', { facts }), commits);
}

/**
 * Pushes the change to the branch of somebody's pull request, which stays theirs: its title, its text and whether it is a
 * draft do not change. What the agent changed in other repositories is left.
 */
async function concludeFix(app: App, work: Work, ending: JudgedEnding, changed: Work[]): Promise<void> {
  const ask = await pullOfFix(app, work);
  const own = changed.filter((each) => each === work);
  let pushed: Pushed | undefined;
  if (own.length > 0) {
    const treeOf = lookUp(ending.trees);
    const findings = await assertFit(work, treeOf);
    assertChecked(work);
    await awaitPushApproval(app, work, { changed: own, treeOf, findings });
    const isPushed = (await work.journal.recall(stepOf('push', work.task, work.repository))) !== undefined;
    if (!isPushed) await assertMayPush(app, work, ask);
    pushed = await pushWork(app, work, ending.finish.title || work.task.title).catch((error) => {
      throw asLostRace(error, work);
    });
  }
  await tellFix(app, work, ask, ending, pushed);
  const facts = { finishedUnchanged: true };
  await succeed(app, work, ending.finish, (em) => tryMoveTask(app, em, work.task.id, 'finish', { facts }));
}

/** Pushes the change that was judged, once a person has approved it where that is needed. */
async function pushChange(app: App, work: Work, ending: JudgedEnding, changed: Work[]): Promise<void> {
  const { finish, subtasks } = ending;
  const treeOf = lookUp(ending.trees);
  const findings = await assertFit(work, treeOf);
  // The change of an agent that split its task is not checked yet, and no pull request is opened for it.
  if (subtasks === undefined) for (const each of changed) assertChecked(each);
  await storeProof(work, changed);
  await findUnplanned(work, treeOf);
  await awaitPushApproval(app, work, { changed, treeOf, findings });
  await pushWorks(app, changed, finish.title || work.task.title, subtasks === undefined);
}

/**
 * Gives each repository the evidence about its judged files. Results about any other tree are left out, and so are proofs
 * for another base: while a run waits, its pull request may move to another branch.
 */
async function giveEvidence(work: Work, { trees, checks = [], proofs = [] }: JudgedEnding): Promise<void> {
  for (const each of allWorks(work)) {
    const tree = trees[each.repository.id];
    if (tree === undefined) continue;
    const isOwn = (about: { repositoryId: string; tree: string }) =>
      about.repositoryId === each.repository.id && about.tree === tree;
    const found = proofs.find(isOwn);
    const proved = found !== undefined && (await isOnBase(each, found.base)) ? found : undefined;
    each.evidence = { tree, checks: checks.filter(isOwn), proof: proved?.proof, base: proved?.base };
  }
}

/** @throws RunFailed `checks` when a check of the judged files failed */
function assertPassed(work: Work): void {
  const failing = firstFailure(allWorks(work).flatMap(({ evidence }) => evidence?.checks ?? []));
  if (failing === undefined) return;
  const output = failing.output.trim().slice(-500);
  if (allWorks(work).some(({ environment }) => environment.context.isOutputHidden)) {
    const message = `${failing.command} still fails after ${failing.seconds} s`;
    throw commandFailed('checks', { message, output, isOutputHidden: true });
  }
  throw new RunFailed('checks', `${failing.command} still fails: ${output}`);
}

/** Returns what only a person may allow in the change. @throws RunFailed when the service refuses the change */
async function assertFit(work: Work, treeOf: TreeOf): Promise<string[]> {
  if (work.planning?.mode === 'always')
    throw new RunFailed('push_rejected', 'no person has approved a plan for the change');
  const { refused, held } = await judgeChanges(work, treeOf);
  if (refused !== undefined) throw rejection(refused);
  return held;
}

/** Without a sandbox no check runs, and the pull request becomes a draft. @throws RunFailed `checks` */
function assertChecked(work: Work): void {
  if (!work.host.hasShell || isChecked(work)) return;
  throw new RunFailed('checks', `the checks of ${work.repository.name} have no result for exactly this change`);
}

async function moveToReview(app: App, em: EntityManager, taskId: string): Promise<void> {
  if ((await tryMoveTask(app, em, taskId, 'propose')) === 'in_review') await followRevisions(app, em, taskId);
}

/** Returns the commits that the run pushed, by repository. */
async function pushedCommits(changed: Work[]): Promise<Map<string, string>> {
  const commits = new Map<string, string>();
  for (const { repository, task, journal } of changed) {
    const pushed = await journal.recall<Pick<Pushed, 'commit'>>(stepOf('push', task, repository));
    if (pushed !== undefined) commits.set(repository.id, pushed.commit);
  }
  return commits;
}

/**
 * Ends the run, stores its handoff and moves the task, in one transaction. `commits` are those that it pushed; without
 * them, the task was split.
 */
async function succeed(
  app: App,
  { run, journal }: Work,
  { summary, nextSteps }: Ending['finish'],
  move: (em: EntityManager) => Promise<unknown>,
  commits?: Map<string, string>,
): Promise<void> {
  const isUnchanged = run.kind === 'revise' && commits?.size === 0;
  if (isUnchanged) await journal.note('loop', 'the revision changed nothing');
  await journal.write(async (em) => {
    if (commits !== undefined) await answerComments(em, run.id, { commits, summary });
    if (commits !== undefined && run.kind === 'rewind') await reopenComments(em, run.id, [...commits.keys()]);
    if (isUnchanged) await markUnchanged(em, run.id);
    await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary, nextSteps });
    await concludeRun(app, em, run, 'succeeded');
    await move(em);
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}

interface Failed {
  /** Undefined when the run failed before its repository was open. */
  work: Work | undefined;
  failure: Failure;
  error: unknown;
}

/** Characters kept of why a run failed, if something else has to be said too. */
const maxReasonChars = 1500;

/** Ends a run as failed: keeps its work, writes its handoff and moves its task. */
export async function endFailed(app: App, run: RunRow, journal: Journal, failed: Failed): Promise<void> {
  const { work, error } = failed;
  let { failure } = failed;
  app.log.warn({ err: error, runId: run.id, category: failure.category }, 'run failed');
  const isModelsFault =
    error instanceof ModelUnavailable || (error instanceof Error && error.cause instanceof ModelFailed);
  const isShown = ['budget', 'checks'].includes(failure.category) || (failure.category === 'model' && !isModelsFault);
  const unpushed = work === undefined ? undefined : await keepWork(app, work, failed, isShown);
  if (unpushed !== undefined && !failure.message.includes(unpushed))
    failure = { ...failure, message: `${failure.message.slice(0, maxReasonChars)}; ${unpushed}` };
  // A model that just failed is not asked for a handoff.
  const isAsked = !isModelsFault && !traitsOf[run.kind].isAlone;
  const handoff = !isAsked ? undefined : await work?.handoff?.(failure);
  await failRun(app, run, journal, { failure, handoff, isModelsFault });
}

/** Ends the run, stores its handoff and moves its task, in one transaction. */
async function failRun(
  app: App,
  run: RunRow,
  journal: Journal,
  { failure, handoff: told, isModelsFault }: { failure: Failure; handoff: Handoff | undefined; isModelsFault: boolean },
): Promise<void> {
  await journal.note('failed', failure.message, { category: failure.category });
  await journal.write(async (em) => {
    await storeFailureHandoff(app, em, run, failure, told);
    if (run.kind === 'prove') await storeUnproved(em, run, failure);
    await concludeRun(app, em, run, 'failed', failure);
    await tryMoveTask(app, em, run.taskId, 'fail', { failure });
    if (run.kind === 'trial') await storeFailedTry(app, em, run.id, { failure, isModelsFault });
  });
  app.metrics.runs.inc({ status: 'failed', category: failure.category });
}

/**
 * Pushes the work made before the failure, unless the service refuses it. Opens a draft pull request for it if `isShown`:
 * after a used-up budget, failing checks, or a model that made no progress. Never throws, because the run's own failure
 * is the one to report. Returns what people should know if a ready pull request could not become a draft.
 */
async function keepWork(
  app: App,
  work: Work,
  { failure, error }: Failed,
  isShown: boolean,
): Promise<string | undefined> {
  if (!traitsOf[work.run.kind].keepsUnfinished) return undefined;
  // Before its plan is approved, only commands of the agent can have changed files, and those changes are discarded.
  if (work.planning?.mode === 'always') return undefined;
  try {
    if (error instanceof StaysReady) return await leaveToNextRun(work, error.message);
    if (error instanceof UploadRefused) {
      await leaveToNextRun(work, 'the host does not take the files');
      return undefined;
    }
    if (await needsApproval(app, work)) {
      await leaveToNextRun(work, 'nothing was pushed, because a person approves pushes here');
      return undefined;
    }
    await pushUnfinished(app, work, failure, isShown);
  } catch (caught) {
    if (caught instanceof StaysReady || caught instanceof UploadRefused) return leaveToNextRun(work, caught.message);
    app.log.warn({ err: caught, runId: work.run.id }, 'the work of a failed run could not be pushed');
  }
  return undefined;
}

/** Leaves the files to the next run of the task, which begins with them. Returns why. */
async function leaveToNextRun({ journal }: Work, why: string): Promise<string> {
  await journal.once(keptStep, async () => ({}));
  await journal.note('push', `${why}; the next run continues with the files`);
  return why;
}

/** @throws StaysReady */
async function pushUnfinished(app: App, work: Work, failure: Failure, isShown: boolean): Promise<void> {
  for (const each of allWorks(work)) await refreshRemote(app, each);
  const trees = await readTrees(work);
  const treeOf = lookUp(trees);
  const { refused, held } = await judgeChanges(work, treeOf);
  if (refused !== undefined) {
    const isKnown = failure.category === 'push_rejected' || failure.category === 'conflict';
    if (!isKnown) await work.journal.note('push', `nothing was pushed:\n${refused}`);
    return;
  }
  if (work.planning?.mode === 'large' && (await lacksPlan(work, treeOf))) {
    await leaveToNextRun(work, 'nothing was pushed, because a person approves a plan for so many files first');
    return;
  }
  if (held.length > 0) {
    await leaveToNextRun(work, `nothing was pushed, because only a person may allow this: ${held.join('; ')}`);
    return;
  }
  await findUnplanned(work, treeOf);
  const changed = await changedWorks(work, treeOf);
  if (changed.length > 0) await storeFailedProof(work, changed, trees);
  const finish = { summary: `Unfinished: ${failure.message}.`, nextSteps: [] };
  await pushWorks(app, changed, `Work in progress: ${work.task.title}`, isShown);
  if (isShown) for (const each of changed) await proposeWork(app, each, finish, true);
}

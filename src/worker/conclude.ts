import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { Ending, JudgedEnding } from '../conversation/ending.ts';
import { commandFailed, RunFailed } from '../domain/run.ts';
import { stepOf } from '../runs/journal.ts';
import { followRevisions } from '../runs/operations.ts';
import { answerComments } from '../runs/review/store.ts';
import { endRun, markUnchanged } from '../runs/store.ts';
import { tryMoveTask } from '../tasks/move.ts';
import { hasOpenPull, insertHandoff } from '../tasks/work-store.ts';
import { refreshRemote } from './open-work.ts';
import { changedWorks, isAhead, lookUp, type TreeOf } from './outgoing/changes.ts';
import { objections, rejection } from './outgoing/objection.ts';
import { findUnplanned } from './plan.ts';
import { isDraft, recallProof, storeProof } from './proof/publish-proof.ts';
import { firstFailure, isChecked } from './proof/verify.ts';
import { linkPulls, type Pushed, proposeWork, pushWorks } from './publish/publish.ts';
import { splitTask } from './split.ts';
import { awaitPushApproval } from './waits.ts';
import { allWorks, type Work } from './work.ts';

/**
 * Publishes the agent's work and moves its task: to waiting if the agent split it into subtasks, to review with a pull
 * request, or to done if nothing had to change. Publishes the files that were judged, whatever is in the workspace now.
 * @throws RunFailed when the host refuses the change or the checks fail; Parked when a person approves the change first
 */
export async function conclude(app: App, work: Work, ending: JudgedEnding): Promise<void> {
  const { finish, subtasks, unfit } = ending;
  const { task, journal } = work;
  for (const each of allWorks(work)) await refreshRemote(app, each);
  if (unfit !== undefined) throw rejection(unfit);
  const treeOf = lookUp(ending.trees);
  const changed = await changedWorks(work, treeOf);
  giveEvidence(work, ending);
  assertPassed(work);
  const proposed = (await isAhead(work, changed)) ? [...new Set([work, ...changed])] : changed;
  if (subtasks === undefined) for (const each of proposed) await recallProof(app, each);
  if (changed.length > 0) await pushChange(app, work, ending, changed);
  if (subtasks !== undefined) return succeed(app, work, finish, (em) => splitTask(app, em, work.run, task, subtasks));
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

/** Pushes the change that was judged, once a person has approved it where that is needed. */
async function pushChange(app: App, work: Work, ending: JudgedEnding, changed: Work[]): Promise<void> {
  const { finish, subtasks } = ending;
  const treeOf = lookUp(ending.trees);
  await assertFit(work, treeOf);
  // The change of an agent that split its task is not checked yet, and no pull request is opened for it.
  if (subtasks === undefined) for (const each of changed) assertChecked(each);
  await storeProof(work, changed);
  await findUnplanned(work, treeOf);
  await awaitPushApproval(app, work, changed, treeOf);
  await pushWorks(app, changed, finish.title || work.task.title, subtasks === undefined);
}

/** Gives each repository the evidence about its judged files. Results about any other tree are left out. */
function giveEvidence(work: Work, { trees, checks = [], proofs = [] }: JudgedEnding): void {
  for (const each of allWorks(work)) {
    const tree = trees[each.repository.id];
    if (tree === undefined) continue;
    const isOwn = (about: { repositoryId: string; tree: string }) =>
      about.repositoryId === each.repository.id && about.tree === tree;
    each.evidence = { tree, checks: checks.filter(isOwn), proof: proofs.find(isOwn)?.proof };
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

/** @throws RunFailed when the host refuses the change */
async function assertFit(work: Work, treeOf: TreeOf): Promise<void> {
  if (work.planning?.mode === 'always')
    throw new RunFailed('push_rejected', 'no person has approved a plan for the change');
  const found = await objections(work, treeOf);
  if (found !== undefined) throw rejection(found);
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
    if (isUnchanged) await markUnchanged(em, run.id);
    await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary, nextSteps });
    await endRun(em, run.id, 'succeeded', null);
    await move(em);
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}

import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { RunFailed } from '../domain/run.ts';
import { tryMoveTask } from '../tasks/move.ts';
import { hasOpenPull, insertHandoff } from '../tasks/work-store.ts';
import type { Ending } from './agent/ending/ending.ts';
import { refreshRemote } from './open-work.ts';
import { followRevisions } from './operations.ts';
import { changesOf, readOnce, type TreeOf } from './outgoing/changes.ts';
import { objections, rejection } from './outgoing/objection.ts';
import { findUnplanned } from './outgoing/planned-files.ts';
import { isDraft, storeProof } from './proof/publish-proof.ts';
import { linkPulls, proposeWork, pushWork } from './publish/publish.ts';
import { type CheckResult, firstFailure } from './publish/verify.ts';
import { splitTask } from './split.ts';
import { endRun } from './store.ts';
import { awaitPushApproval } from './waiting/await-approval.ts';
import { allWorks, type Work } from './work.ts';

/**
 * Publishes the agent's work and moves its task: to waiting if the agent split it into subtasks, to review with a pull
 * request, or to done if nothing had to change.
 * @throws RunFailed when the host refuses the change or the checks fail; Parked when a person approves the change first
 */
export async function conclude(app: App, work: Work, ending: Ending): Promise<void> {
  const { finish, subtasks, checks = [] } = ending;
  const { task, journal } = work;
  for (const each of allWorks(work)) await refreshRemote(app, each);
  // The agent has stopped, so the judged files are still the ones to push.
  const treeOf = ending.treeOf ?? readOnce();
  const changed = await changedWorks(work, treeOf);
  if (changed.length > 0) {
    giveEvidence(work, ending);
    await assertFit(work, treeOf, checks);
    await storeProof(work);
    await findUnplanned(work, treeOf);
    await awaitPushApproval(app, work, changed, treeOf);
    for (const each of changed) await pushWork(app, each, await treeOf(each), finish.prTitle || task.title);
  }
  if (subtasks !== undefined) return succeed(app, work, finish, (em) => splitTask(app, em, work.run, task, subtasks));
  const proposed = await worksToPropose(work, changed);
  if (proposed.length > 0) {
    for (const each of proposed) await proposeWork(app, each, finish, await isDraft(app, each));
    if (proposed.length > 1) await linkPulls(app, work);
  }
  if (proposed.length > 0 || (await hasOpenPull(app.db.manager, task.id)))
    return succeed(app, work, finish, (em) => moveToReview(app, em, task.id));
  await journal.note('loop', 'nothing had to be changed');
  const facts = { finishedUnchanged: true };
  await succeed(app, work, finish, (em) => tryMoveTask(app, em, task.id, 'finish', { facts }));
}

/** Finds the repositories in which the run changed something. */
export async function changedWorks(work: Work, treeOf: TreeOf): Promise<Work[]> {
  const changed: Work[] = [];
  for (const each of allWorks(work)) if ((await changesOf(each, treeOf)).length > 0) changed.push(each);
  return changed;
}

/**
 * Checks whether a change can be proposed.
 * @throws RunFailed when the host refuses the change or a check fails
 */
async function assertFit(work: Work, treeOf: TreeOf, checks: CheckResult[]): Promise<void> {
  if (work.planning?.mode === 'always')
    throw new RunFailed('push_rejected', 'no person has approved a plan for the change');
  const found = await objections(work, treeOf);
  if (found !== undefined) throw rejection(found);
  const failing = firstFailure(checks);
  if (failing === undefined) return;
  throw new RunFailed('checks', `${failing.command} still fails: ${failing.output.trim().slice(-500)}`);
}

/**
 * Finds the repositories to open pull requests in: the changed ones, and the task's own if an earlier run left commits
 * on its branch.
 */
async function worksToPropose(work: Work, changed: Work[]): Promise<Work[]> {
  const { branch, checkout } = work;
  const isAhead =
    changed.includes(work) || (branch.continues && !(await checkout.isAncestor(branch.from, branch.base)));
  return isAhead ? [...new Set([work, ...changed])] : changed;
}

/**
 * Gives each repository the results of its checks and its proof, which its pull request shows. A draft shows them even
 * though the run fails.
 */
function giveEvidence(work: Work, { checks = [], proofs = [] }: Ending): void {
  for (const each of allWorks(work)) {
    each.checks = checks.filter(({ repositoryId = work.repository.id }) => repositoryId === each.repository.id);
    const own = proofs.find(({ repositoryId }) => repositoryId === each.repository.id);
    if (own !== undefined) each.proof = own.proof;
  }
}

async function moveToReview(app: App, em: EntityManager, taskId: string): Promise<void> {
  if ((await tryMoveTask(app, em, taskId, 'propose')) === 'in_review') await followRevisions(app, em, taskId);
}

/** Ends the run, stores its handoff and moves the task, in one transaction. */
async function succeed(
  app: App,
  { run, journal }: Work,
  { summary, nextSteps }: Ending['finish'],
  move: (em: EntityManager) => Promise<unknown>,
): Promise<void> {
  await journal.write(async (em) => {
    await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary, nextSteps });
    await endRun(em, run.id, 'succeeded', null);
    await move(em);
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}

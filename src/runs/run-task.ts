import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import { Handoffs, PullRequests, type RunRow } from '../db/work-tables.ts';
import { lowest } from '../domain/budget.ts';
import { type Failure, RunFailed } from '../domain/run.ts';
import type { Confinement } from '../sandbox/sandbox.ts';
import { tryMoveTask } from '../tasks/move.ts';
import { assign } from './agent/assignment.ts';
import type { Ending } from './agent/loop.ts';
import { workInside } from './agent/session.ts';
import { asFailure } from './failures.ts';
import { type Journal, openJournal } from './lease/journal.ts';
import { lastInterruption, maxInterruptions } from './lease/lease-store.ts';
import { startClock } from './lease/run-clock.ts';
import { openWork, refreshRemote } from './open-work.ts';
import { followRevisions } from './operations.ts';
import { changesOf, objectionOf, objections, readOnce, rejection } from './outgoing/objection.ts';
import { patienceOf } from './publish/patience.ts';
import { linkPulls, proposeWork, pushWork, type Work } from './publish/publish.ts';
import { type CheckResult, failed } from './publish/verify.ts';
import { budgetsOfRepository } from './settings/repository-settings.ts';
import { splitTask } from './split.ts';
import { endRun } from './store.ts';

/**
 * Works a claimed run off: workspace, branch, conversation with the model, check, commit, push, pull request, handoff.
 * Another worker may have begun it; every step asks the journal first. `outer` aborts when the run is no longer ours.
 * @throws what took the run from us; failures of the run itself are its result
 */
export async function runTask(app: App, run: RunRow, outer: AbortSignal): Promise<void> {
  const journal = openJournal(app, run);
  const clock = startClock((run.startedAt ?? new Date()).getTime());
  const seconds = app.config.REMOTE_RETRY_SECONDS;
  const patience = patienceOf({ journal, signal: outer, seconds, endsAt: clock.endsAt });
  let confinement: Confinement | undefined;
  let work: Work | undefined;
  try {
    if (run.interruptions >= maxInterruptions) throw await givenUp(app, run);
    const given = await assign(app, run);
    clock.open(given.budgets.runMinutes);
    confinement = await app.sandbox.confine(AbortSignal.any([outer, clock.working]));
    // Once a repository is open, git obeys the outer signal only: when the time is over, the work made so far is still pushed.
    const signals = { git: AbortSignal.any([outer, clock.opening]), tools: confinement.signal, confinement };
    work = await patience(() => openWork(app, given, given.repository, { journal, signals, patience }));
    const budgets = lowest(given.budgets, budgetsOfRepository(work.settings));
    clock.work(budgets.runMinutes);
    const objection = objectionOf(work);
    const ending = await workInside(app, { ...given, budgets }, work, { signals, objection });
    await conclude(app, work, ending);
  } catch (error) {
    const failure = asFailure(error, outer);
    if (failure === undefined) throw error;
    app.log.warn({ err: error, runId: run.id, category: failure.category }, 'run failed');
    if (work !== undefined) await keepWork(app, work, failure);
    await fail(app, run, journal, failure);
  } finally {
    clock.stop();
    for (const each of work === undefined ? [] : [work, ...work.also]) await each.remove();
    await confinement?.close();
  }
}

/** It may kill whichever worker takes it, or lack what no worker has. */
async function givenUp(app: App, { id, interruptions }: RunRow): Promise<RunFailed> {
  const why = await lastInterruption(app.db.manager, id);
  const said = `the run was interrupted ${interruptions} times without progress`;
  return new RunFailed('internal', why === undefined ? said : `${said}; the last time: ${why}`);
}

/** From the ending of the conversation to the status of the task (decisions, section 5). */
async function conclude(app: App, work: Work, ending: Ending): Promise<void> {
  const { finish, isCalled, subtasks, checks = [] } = ending;
  const { task, branch, journal } = work;
  for (const each of [work, ...work.also]) await refreshRemote(app, each);
  // Nobody works on the files any more.
  const treeOf = ending.judged ?? readOnce();
  const changed: Work[] = [];
  for (const each of [work, ...work.also]) if ((await changesOf(each, treeOf)).length > 0) changed.push(each);
  if (changed.length > 0) {
    const found = await objections(work, treeOf);
    if (found !== undefined) throw rejection(found);
    const failing = failed(checks);
    if (failing !== undefined) {
      giveChecks(work, checks);
      throw new RunFailed('checks', `${failing.command} still fails: ${failing.output.trim().slice(-500)}`);
    }
    for (const each of changed) await pushWork(app, each, await treeOf(each), finish.prTitle || task.title);
  }
  if (subtasks !== undefined) return succeed(app, work, finish, (em) => splitTask(app, em, work.run, task, subtasks));
  const isAhead =
    changed.includes(work) || (branch.continues && !(await work.checkout.isAncestor(branch.from, branch.base)));
  const proposed = isAhead ? [...new Set([work, ...changed])] : changed;
  if (proposed.length > 0) {
    giveChecks(work, checks);
    for (const each of proposed) await proposeWork(app, each, finish, false);
    if (proposed.length > 1) await linkPulls(app, work);
    return succeed(app, work, finish, (em) => propose(app, em, task.id));
  }
  const isOpen = await app.db.manager.existsBy(PullRequests, { taskId: task.id, status: 'open' });
  if (isOpen) return succeed(app, work, finish, (em) => propose(app, em, task.id));
  if (!isCalled) throw new RunFailed('no_changes', 'the agent answered without changing anything');
  await journal.note('loop', 'nothing had to be changed');
  await succeed(app, work, finish, (em) =>
    tryMoveTask(app, em, task.id, 'finish', { facts: { finishedUnchanged: true } }),
  );
}

/** Each pull request tells what the checks of its repository said. */
function giveChecks(work: Work, checks: CheckResult[]): void {
  for (const each of [work, ...work.also])
    each.checks = checks.filter(({ repositoryId = work.repository.id }) => repositoryId === each.repository.id);
}

async function propose(app: App, em: EntityManager, taskId: string): Promise<void> {
  if ((await tryMoveTask(app, em, taskId, 'propose')) === 'in_review') await followRevisions(app, em, taskId);
}

async function succeed(
  app: App,
  { run, journal }: Work,
  { summary, nextSteps }: Ending['finish'],
  move: (em: EntityManager) => Promise<unknown>,
): Promise<void> {
  await journal.write(async (em) => {
    await em.insert(Handoffs, { id: newId('handoff'), taskId: run.taskId, runId: run.id, summary, nextSteps });
    await endRun(em, run.id, 'succeeded', null);
    await move(em);
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}

async function fail(app: App, run: RunRow, journal: Journal, failure: Failure): Promise<void> {
  const summary = `The run failed (${failure.category}): ${failure.message}`;
  await journal.note('failed', failure.message, { category: failure.category });
  await journal.write(async (em) => {
    await em.insert(Handoffs, { id: newId('handoff'), taskId: run.taskId, runId: run.id, summary, nextSteps: [] });
    await endRun(em, run.id, 'failed', failure);
    await tryMoveTask(app, em, run.taskId, 'fail', { failure });
  });
  app.metrics.runs.inc({ status: 'failed', category: failure.category });
}

/** Pushes what was made before the failure, after the host's checks; a used-up budget and failing checks show as a draft. */
async function keepWork(app: App, work: Work, failure: Failure): Promise<void> {
  try {
    for (const each of [work, ...work.also]) await refreshRemote(app, each);
    const treeOf = readOnce();
    const found = await objections(work, treeOf);
    const isTold = failure.category === 'push_rejected' || failure.category === 'conflict';
    if (found !== undefined && !isTold) await work.journal.note('push', `nothing was pushed:\n${found}`);
    if (found !== undefined) return;
    const isShown = failure.category === 'budget' || failure.category === 'checks';
    for (const each of [work, ...work.also]) {
      if ((await changesOf(each, treeOf)).length === 0) continue;
      await pushWork(app, each, await treeOf(each), `Work in progress: ${work.task.title}`);
      if (isShown) await proposeWork(app, each, { summary: `Unfinished: ${failure.message}.`, nextSteps: [] }, true);
    }
  } catch (error) {
    app.log.warn({ err: error, runId: work.run.id }, 'the work of a failed run could not be pushed');
  }
}

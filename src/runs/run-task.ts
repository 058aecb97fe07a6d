import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import { Handoffs, PullRequests, type RunRow } from '../db/work-tables.ts';
import { lowest } from '../domain/budget.ts';
import { type Failure, RunFailed } from '../domain/run.ts';
import { revealSecret } from '../projects/secrets.ts';
import { credentialFor, remoteFor } from '../repositories/credentials.ts';
import { tryMoveTask } from '../tasks/move.ts';
import { assign } from './assignment.ts';
import { asFailure } from './failures.ts';
import { type Journal, openJournal } from './journal.ts';
import type { Ending } from './loop.ts';
import { changesOf, objectionOf, objections } from './objection.ts';
import { followRevisions } from './operations.ts';
import { proposeWork, pushWork, type Work } from './publish.ts';
import { budgetsOfRepository, noSettings, readSettings } from './repository-settings.ts';
import { workInside } from './session.ts';
import { splitTask } from './split.ts';
import { endRun } from './store.ts';
import { failed } from './verify.ts';
import { openWorkspace } from './workspace.ts';

/** A run that is taken over this often kills whoever works on it. */
const maxTakeovers = 20;

/**
 * Works a claimed run off: workspace, branch, conversation with the model, check, commit, push, pull request, handoff.
 * Another worker may have begun it; every step asks the journal first. `outer` aborts when the run is no longer ours.
 * @throws what took the run from us; failures of the run itself are its result
 */
export async function runTask(app: App, run: RunRow, outer: AbortSignal): Promise<void> {
  const journal = openJournal(app, run);
  let work: Work | undefined;
  let remove = async () => {};
  try {
    if (run.fence > maxTakeovers) throw new RunFailed('internal', `the run was interrupted ${run.fence - 1} times`);
    const given = await assign(app, run);
    const begins = (run.startedAt ?? new Date()).getTime();
    const credential = await credentialFor(app, given.repository);
    const remote = await remoteFor(app, given.repository, credential, { contents: 'write' });
    // git obeys the outer signal only: when the time is over, the work made so far is still pushed.
    const workspace = await openWorkspace(app, run, journal, { ...given, remote, signal: outer });
    remove = workspace.remove;
    const modelToken = await revealSecret(app, run.projectId, 'model_token');
    const { webhookSecrets = [], client } = app.githubApp ?? {};
    const ours = [app.config.OPENAI_API_KEY, app.keys.jwtSecret, client?.secret, ...webhookSecrets];
    const live = [remote.token, modelToken, ...ours];
    const secrets = live.filter((s) => s !== undefined);
    work = { ...given, ...workspace, credential, journal, secrets, settings: noSettings };
    const settings = await journal.once('settings', () => readSettings(workspace.checkout, workspace.baseHead));
    work = { ...work, settings };
    const budgets = lowest(given.budgets, budgetsOfRepository(settings));
    const ends = begins + budgets.runMinutes * 60_000;
    const signal = AbortSignal.any([outer, AbortSignal.timeout(Math.max(0, ends - Date.now()))]);
    const objection = objectionOf(work, settings);
    const ending = await workInside(app, { ...given, budgets, settings }, journal, workspace, { signal, objection });
    await conclude(app, work, ending);
  } catch (error) {
    const failure = asFailure(error, outer);
    if (failure === undefined) throw error;
    app.log.warn({ err: error, runId: run.id, category: failure.category }, 'run failed');
    if (work !== undefined) await keepWork(app, work, failure);
    await fail(app, run, journal, failure);
  } finally {
    await remove();
  }
}

/** From the ending of the conversation to the status of the task (decisions, section 5). */
async function conclude(app: App, work: Work, { finish, isCalled, subtasks, checks = [] }: Ending): Promise<void> {
  const { task, branch, journal } = work;
  const isChanged = (await changesOf(work)).length > 0;
  if (isChanged) {
    const found = await objections(work, work.settings);
    if (found !== undefined)
      throw new RunFailed(/conflict markers$/m.test(found) ? 'conflict' : 'push_rejected', found);
    const failing = failed(checks);
    if (failing !== undefined) {
      work.checks = checks;
      throw new RunFailed('checks', `${failing.command} still fails: ${failing.output.trim().slice(-500)}`);
    }
    await pushWork(app, work, finish.prTitle || task.title);
  }
  if (subtasks !== undefined) return succeed(app, work, finish, (em) => splitTask(app, em, work.run, task, subtasks));
  const isAhead = isChanged || (branch.continues && !(await work.checkout.isAncestor(branch.from, branch.base)));
  if (isAhead) {
    await proposeWork(app, { ...work, checks }, finish, false);
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
    if ((await changesOf(work)).length === 0 || (await objections(work, work.settings)) !== undefined) return;
    await pushWork(app, work, `Work in progress: ${work.task.title}`);
    if (failure.category !== 'budget' && failure.category !== 'checks') return;
    await proposeWork(app, work, { summary: `Unfinished: ${failure.message}.`, nextSteps: [] }, true);
  } catch (error) {
    app.log.warn({ err: error, runId: work.run.id }, 'the work of a failed run could not be pushed');
  }
}

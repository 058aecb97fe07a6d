import type { App } from '../app.ts';
import { ModelUnavailable, Parked } from '../conversation/ending.ts';
import type { RunRow } from '../db/tables/run.ts';
import { lowerLimits } from '../domain/budget.ts';
import { RunFailed } from '../domain/run.ts';
import { budgetsOfRepository } from '../repositories/settings/repository-settings.ts';
import { noteOpened } from '../runs/directors.ts';
import { openJournal } from '../runs/journal.ts';
import { waitForModel } from '../runs/waiting/park.ts';
import type { Confinement } from '../sandbox/sandbox.ts';
import { lowerByTask } from '../tasks/work-store.ts';
import { conclude, endFailed } from './conclude.ts';
import { takeUpConversation } from './continue-run.ts';
import { lastInterruption, maxInterruptions } from './lease/lease-store.ts';
import { clockStart, startRunClock } from './lease/run-clock.ts';
import { openWork } from './open-work.ts';
import { asFailure, retryPolicyOf } from './retry.ts';
import { beginProof, openingOfProof, proveForPeople } from './reviewing/prove-for-people.ts';
import { reviewPull } from './reviewing/review-pull.ts';
import { workInside } from './session.ts';
import { pauseIfAsked } from './waits.ts';
import { allWorks, findAssignment, type Work } from './work.ts';

/**
 * Executes a claimed run: workspace, branch, conversation with the model, checks, commit, push, pull request,
 * handoff. An earlier worker may have begun the run, so every step checks the journal first. `outer` aborts when this
 * worker no longer holds the run. A run that waits for its model or for a person leaves this worker, and any worker
 * continues it later.
 * @throws the error that took the run from this worker. A failure of the run is stored as its result instead.
 */
export async function runTask(app: App, run: RunRow, outer: AbortSignal): Promise<void> {
  const journal = openJournal(app, run);
  const clock = startRunClock(clockStart(run));
  const seconds = app.config.REMOTE_RETRY_SECONDS;
  const retrying = retryPolicyOf({ journal, signal: outer, seconds, endsAt: clock.endsAt });
  let confinement: Confinement | undefined;
  let work: Work | undefined;
  try {
    if (run.interruptions >= maxInterruptions) throw await tooOftenInterrupted(app, run);
    if (run.kind === 'prove' && !(await beginProof(app, run, journal))) return;
    const given = await findAssignment(app, run);
    clock.open(given.limits.runMinutes);
    await takeUpConversation(app, run, { task: given.task, journal, retrying });
    confinement = await app.sandbox.confine(AbortSignal.any([outer, clock.working]));
    // `clock.working` does not abort git, because the work made so far is still pushed when the time is up.
    const signals = { git: AbortSignal.any([outer, clock.opening]), tools: confinement.signal, confinement };
    const shared = { journal, signals, retrying };
    const opening = run.kind === 'prove' ? openingOfProof(app, run, shared) : shared;
    work = await retrying(() => openWork(app, given, given.repository, opening));
    await noteOpened(work, given.repository.id);
    const limits = lowerLimits(given.limits, 'repository', budgetsOfRepository(work.settings));
    const limitsNow = async () => {
      const current = await lowerByTask(app.db.manager, run.taskId, limits);
      clock.work(current.runMinutes);
      return current;
    };
    await limitsNow();
    if (run.kind === 'prove') return await proveForPeople(app, work);
    if (run.kind === 'review') return await reviewPull(app, { ...given, limitsNow }, work, signals);
    const ending = await workInside(app, { ...given, limitsNow }, work, signals);
    // From here on, the run changes what others see.
    await pauseIfAsked(app, run, journal);
    await conclude(app, work, ending);
  } catch (error) {
    if (error instanceof Parked) return;
    const failure =
      error instanceof ModelUnavailable ? await waitForModel(app, run, journal, error) : asFailure(error, outer);
    if (failure !== undefined) await endFailed(app, run, journal, { work, failure, error });
    else if (!(error instanceof ModelUnavailable)) throw error;
  } finally {
    clock.stop();
    for (const each of work === undefined ? [] : allWorks(work)) await each.remove();
    await confinement?.close();
  }
}

/**
 * Builds the failure for a run with too many interruptions. It may crash every worker that claims it, or need a
 * resource that no worker has.
 */
async function tooOftenInterrupted(app: App, { id, interruptions }: RunRow): Promise<RunFailed> {
  const why = await lastInterruption(app.db.manager, id);
  const message = `the run was interrupted ${interruptions} times without progress`;
  return new RunFailed('internal', why === undefined ? message : `${message}; the last time: ${why}`);
}

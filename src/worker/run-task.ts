import type { App } from '../app.ts';
import { ModelUnavailable, Parked } from '../conversation/ending.ts';
import type { RunRow } from '../db/tables/run.ts';
import { lowerLimits } from '../domain/budget.ts';
import { type Failure, RunFailed, type RunKind } from '../domain/run.ts';
import { budgetsOfRepository } from '../repositories/settings/repository-settings.ts';
import { noteOpened } from '../runs/directors.ts';
import { type Journal, openJournal } from '../runs/journal.ts';
import { noteHostReached, waitForHost, waitForModel } from '../runs/waiting/park.ts';
import type { Confinement } from '../sandbox/sandbox.ts';
import { lowerByTask } from '../tasks/work-store.ts';
import { conclude, endFailed } from './conclude.ts';
import { harvest } from './lab/harvest.ts';
import { tryItem } from './lab/try-item.ts';
import { leaveToOthers, OtherWorkerNeeded } from './lease/labels.ts';
import { lastInterruption, maxInterruptions } from './lease/lease-store.ts';
import { readElapsedMs, startRunClock } from './lease/run-clock.ts';
import { openWork, type Shared } from './open-work.ts';
import { asFailure, hostOutage, retryPolicyOf } from './retry.ts';
import { beginProof, openingOfProof, proveForPeople } from './reviewing/prove-for-people.ts';
import { reviewPull } from './reviewing/review-pull.ts';
import { workInside } from './session.ts';
import { takeUpConversation, withRequests } from './take-up.ts';
import { pauseIfAsked } from './waits.ts';
import { allWorks, findAssignment, type Limited, type Work } from './work.ts';
import type { Signals } from './workspace/workspace.ts';

/** What the runs of a kind do. */
interface Way {
  /** Returns whether a run begins, or else ends it. */
  begin?(app: App, run: RunRow, journal: Journal): Promise<boolean>;
  /** Changes how its repository is opened. */
  openingOf?(app: App, run: RunRow, shared: Shared): Shared;
  /** Does in the open repository what the run is for, and ends it. */
  workOn(app: App, given: Limited, work: Work, signals: Signals): Promise<void>;
}

const change: Way = { workOn: makeChange };
const ways: Record<Exclude<RunKind, 'harvest'>, Way> = {
  start: change,
  retry: change,
  revise: change,
  continue: change,
  rewind: change,
  fix: change,
  review: { workOn: reviewPull },
  prove: {
    begin: beginProof,
    openingOf: openingOfProof,
    workOn: (app, _given, work) => proveForPeople(app, work),
  },
  trial: { workOn: tryItem },
};

/**
 * Executes a claimed run: workspace, branch, conversation with the model, checks, commit, push, pull request,
 * handoff. An earlier worker may have begun the run, so every step checks the journal first. `outer` aborts when this
 * worker has lost its lease. A run that waits for its model or for a person leaves this worker, and any worker
 * continues it later.
 * @throws the error that took the run from this worker. A failure of the run is stored as its result instead.
 */
export async function runTask(app: App, run: RunRow, outer: AbortSignal): Promise<void> {
  const journal = openJournal(app, run);
  const clock = startRunClock(await readElapsedMs(app.db.manager, run.id));
  // A run that has waited for its host finds out quickly whether it has to wait again, and gives up its slot.
  const seconds = run.hostPauses > 0 ? 0 : app.config.REMOTE_RETRY_SECONDS;
  const retrying = retryPolicyOf({ journal, signal: outer, seconds, endsAt: clock.endsAt });
  let confinement: Confinement | undefined;
  let work: Work | undefined;
  try {
    await assertProgress(app, run);
    // It reads the whole history, so it opens its repository in its own way.
    if (run.kind === 'harvest') return await harvest(app, run, { journal, retrying, outer });
    const way = ways[run.kind];
    if (way.begin !== undefined && !(await way.begin(app, run, journal))) return;
    const assigned = await findAssignment(app, run);
    clock.open(assigned.limits.runMinutes);
    await takeUpConversation(app, run, { task: assigned.task, journal, retrying });
    const given = await withRequests(app, assigned, { journal, retrying });
    confinement = await app.sandbox.confine(AbortSignal.any([outer, clock.working]));
    // `clock.working` does not abort git, because the work made so far is still pushed when the time is up.
    const signals = { git: AbortSignal.any([outer, clock.opening]), tools: confinement.signal, confinement };
    const shared = { journal, signals, retrying };
    const opening = way.openingOf?.(app, run, shared) ?? shared;
    work = await retrying(() => openWork(app, given, given.repository, opening));
    await noteHostReached(app, run);
    await noteOpened(work, given.repository.id);
    const limits = lowerLimits(given.limits, 'repository', budgetsOfRepository(work.settings));
    const limitsNow = async () => {
      const current = await lowerByTask(app.db.manager, run.taskId, limits);
      clock.work(current.runMinutes);
      return current;
    };
    await limitsNow();
    await way.workOn(app, { ...given, limitsNow }, work, signals);
  } catch (error) {
    if (error instanceof Parked) return;
    await waitOrFail(app, run, journal, { work, error, outer });
  } finally {
    clock.stop();
    for (const each of work === undefined ? [] : allWorks(work)) await each.remove();
    await confinement?.close();
  }
}

/**
 * Lets a run wait if its model or a host is unavailable. If not, or if it has waited for as long as it may, it fails.
 * @throws the error if it took the run from this worker
 */
async function waitOrFail(
  app: App,
  run: RunRow,
  journal: Journal,
  { work, error, outer }: { work: Work | undefined; error: unknown; outer: AbortSignal },
): Promise<void> {
  if (error instanceof OtherWorkerNeeded) return leaveToOthers(app, run, journal, error);
  const outage = hostOutage(error, outer);
  let failure: Failure | undefined;
  if (error instanceof ModelUnavailable) failure = await waitForModel(app, run, journal, error);
  else if (outage !== undefined) failure = await waitForHost(app, run, journal, outage);
  else {
    failure = asFailure(error, outer);
    if (failure === undefined) throw error;
  }
  if (failure !== undefined) await endFailed(app, run, journal, { work, failure, error });
}

/** Lets the agent change the repository, and publishes what it has made. */
async function makeChange(app: App, given: Limited, work: Work, signals: Signals): Promise<void> {
  const ending = await workInside(app, given, work, signals);
  // From here on, the run changes what others see.
  await pauseIfAsked(app, work.run, work.journal);
  await conclude(app, work, ending);
}

/**
 * Checks that a run was not interrupted too often without progress. It may crash every worker that claims it, or need a
 * resource that no worker has. @throws RunFailed
 */
async function assertProgress(app: App, { id, interruptions }: RunRow): Promise<void> {
  if (interruptions < maxInterruptions) return;
  const why = await lastInterruption(app.db.manager, id);
  const message = `the run was interrupted ${interruptions} times without progress`;
  throw new RunFailed('internal', why === undefined ? message : `${message}; the last time: ${why}`);
}

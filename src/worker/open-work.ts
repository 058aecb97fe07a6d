import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { traitsOf } from '../domain/run.ts';
import { addRefused, type CommandAccess, openCommandAccess, startAll } from '../environment/command-access.ts';
import type { Readers } from '../environment/files/private-submodules.ts';
import { prepareEnvironment } from '../environment/prepare.ts';
import { knownSecrets } from '../environment/secrets/secrets.ts';
import type { SetupContext } from '../environment/setup-context.ts';
import { type Checkout, type Remote, remoteSeconds } from '../git/engine.ts';
import { type Credential, credentialFor, octokitFor, remoteFor } from '../repositories/credentials.ts';
import { type Customs, noCustoms, readCustoms } from '../repositories/customs/customs.ts';
import { assertTakesPulls } from '../repositories/pulls.ts';
import { admitToRun, enterRepository } from '../runs/directors.ts';
import { endingStep, type Journal, stepOf } from '../runs/journal.ts';
import { assertLabels } from './lease/labels.ts';
import { objectionToSending } from './leaving/scan-change.ts';
import type { RetryPolicy } from './retry.ts';
import type { Assignment, Work } from './work.ts';
import { findReverts } from './workspace/revert-pulls.ts';
import { prepareForTrial, readBeginning, type TrialBeginning } from './workspace/trial-place.ts';
import { openWorkspace, type Placed, type Signals, type Workspace } from './workspace/workspace.ts';

/** Minimum time limit for one git operation. Even a run limited to seconds has to clone. */
const leastSeconds = 60;

/** What all repositories of a run share. */
export interface Shared {
  journal: Journal;
  signals: Signals;
  retrying: RetryPolicy;
  /** Returns whether commands will run, so that the environment has to be set up. Without it, they will. */
  needsSetup?: (checkout: Checkout, placed: Placed) => Promise<boolean>;
}

/** Opens a repository for a run: its files, its branch, its settings and a credential. */
export async function openWork(app: App, given: Assignment, repository: RepositoryRow, shared: Shared): Promise<Work> {
  const { run } = given;
  const { journal, signals, retrying } = shared;
  const credential = await credentialFor(app, repository);
  // Before the work is paid for. Another repository may be opened just to read it.
  if (repository.id === given.repository.id && traitsOf[run.kind].pushes) await assertMayPropose(app, credential);
  const { remote, trial } = await reachOf(app, given, repository, { ...shared, credential });
  // The credentials that the run may have seen.
  const known = await knownSecrets(app, run.projectId, [repository.id]);
  const secrets = [...(remote.token === undefined ? [] : [remote.token]), ...known];
  let opened: Work | undefined;
  const readers: Readers = {
    own: given.repository,
    enter: (other) => enterRepository(app, { run, journal }, other),
    // Another repository of the run gets the list of the task's own.
    onToken: (token) => (opened?.secrets ?? secrets).push(token),
    entered: new Set(),
  };
  const closing: (() => Promise<void>)[] = [];
  const remove = async () => {
    for (const close of closing.splice(0)) await close();
  };
  const prepare = async (checkout: Checkout, placed: Placed) => {
    const { settings } = placed;
    if (repository.id === given.repository.id) await assertLabels(app, repository.id, settings.runsOn);
    const customs = await customsOf(checkout, placed, { ...given, journal, repository });
    const signal = AbortSignal.any([signals.git, signals.tools]);
    const isNeeded = (await shared.needsSetup?.(checkout, placed)) ?? true;
    const reached = new Set<string>();
    const context: SetupContext = { app, repository, checkout, settings, readers, signal, note: journal.note, reached };
    const environment =
      trial === undefined
        ? await prepareEnvironment(context, await setupCommit(checkout, placed), { isNeeded })
        : await prepareForTrial(context, trial, { remote, isNeeded });
    closing.push(environment.remove);
    await environment.placeInto(checkout.workTree, signals.confinement);
    return { customs, environment };
  };
  try {
    const workspace = await openWorkspace(
      app,
      run,
      journal,
      { ...given, repository, remote, signals, readers, trial },
      prepare,
    );
    // Once the agent has finished, nothing runs beside the files that were judged.
    const isOver = (await journal.recall(endingStep)) !== undefined;
    const access = traitsOf[run.kind].hasAgentInside ? await openAccess(workspace, signals, isOver) : noAccess;
    closing.unshift(workspace.remove, access.close);
    opened = {
      ...given,
      ...workspace,
      remove,
      refused: () => addRefused(workspace.environment.refused, access.refused()),
      tokenEndsAt: remote.tokenEndsAt,
      repository,
      reverts: await findReverts(app.db.manager, { ...given, repository }, workspace.branch.reverts),
      ...{ credential, journal, secrets },
      enter: readers.enter,
      admit: (people) => admitToRun(app, { ...given, journal }, people),
      objectionToSending: (value) => objectionToSending(value, secrets),
      retrying,
      signal: signals.git,
      others: [],
    };
    return opened;
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns from where a run fetches, and for a trial what it begins with. */
async function reachOf(
  app: App,
  { run, limits }: Assignment,
  repository: RepositoryRow,
  { journal, signals, credential }: Shared & { credential: Credential },
): Promise<{ remote: Remote; trial: TrialBeginning | undefined }> {
  // No git operation may take longer than the whole run.
  const limitSeconds = Math.min(remoteSeconds, Math.max(leastSeconds, limits.runMinutes.value * 60));
  const contents = traitsOf[run.kind].pushes ? 'write' : 'read';
  const remote = { ...(await remoteFor(app, repository, credential, { contents })), limitSeconds };
  if (run.kind !== 'trial') return { remote, trial: undefined };
  const trial = await readBeginning(app, { run, repository }, { journal, remote, signal: signals.git });
  // A cache has what came after the commit of an item.
  return { remote: { ...remote, scope: undefined }, trial };
}

/** @throws RunFailed when the repository takes no pull requests */
async function assertMayPropose(app: App, credential: Credential): Promise<void> {
  if (credential.kind === 'none' || credential.owner === '') return;
  await assertTakesPulls(await octokitFor(app, credential), credential);
}

/** Reads the customs of a repository once in a run, and says in its log what of them is not followed. */
async function customsOf(
  checkout: Checkout,
  { settings, trustedHead }: Placed,
  { task, journal, repository }: Pick<Work, 'task' | 'journal' | 'repository'>,
): Promise<Customs> {
  const stored = await journal.once(stepOf('customs', task, repository), async () => {
    const customs = await readCustoms(checkout, trustedHead, settings);
    for (const note of customs.notes) await journal.note('repository', note);
    return customs;
  });
  return { ...noCustoms, ...stored };
}

const noAccess: CommandAccess = { settings: {}, refused: () => [], close: async () => {} };

/** Gives the agent's commands their variables and the way to the hosts that they may reach. */
async function openAccess(
  { host, environment: { context }, remove }: Workspace & Pick<Work, 'environment'>,
  { confinement, tools }: Signals,
  isOver: boolean,
): Promise<CommandAccess> {
  if (!host.hasShell) return noAccess;
  let access: CommandAccess | undefined;
  try {
    access = await openCommandAccess(context, 'agent', confinement);
    host.configure(access.settings);
    if (!isOver) await startAll(context, host.machine, tools);
    return access;
  } catch (error) {
    await remove();
    await access?.close();
    throw error;
  }
}

/**
 * Returns the commit from which set-up begins. It is of the repository's own base branch, also when the task goes into
 * another one: set-up has secrets and a network that agents, and people who may create a branch, do not have. It is the one
 * at the start of the run, so that a worker that takes over finds what the first one kept.
 */
async function setupCommit(checkout: Checkout, { setupFrom, trustedHead }: Placed): Promise<string> {
  if (setupFrom === trustedHead) return trustedHead;
  return (await checkout.fetchCommit(setupFrom)) ? setupFrom : trustedHead;
}

/**
 * A token must last at least this long for the steps that follow. Installation tokens expire after an hour, possibly
 * during a run.
 */
const spareMs = 10 * 60_000;

/** Gets a new token for git if the current one is about to expire. */
export async function refreshRemote(app: App, work: Work): Promise<void> {
  if (work.tokenEndsAt === undefined || work.tokenEndsAt.getTime() - Date.now() > spareMs) return;
  const contents = traitsOf[work.run.kind].pushes ? 'write' : 'read';
  // The person who connected the repository may have lost their permission there in the meantime.
  const renewed = async () => remoteFor(app, work.repository, await credentialFor(app, work.repository), { contents });
  const { token, tokenEndsAt } = await work.retrying(renewed);
  await work.checkout.renewToken(token);
  work.tokenEndsAt = tokenEndsAt;
  if (token !== undefined) work.secrets.push(token);
}

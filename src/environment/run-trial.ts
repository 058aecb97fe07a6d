import type { App } from '../app.ts';
import type { EnvironmentTrialRow, TrialCommand } from '../db/tables/environment.ts';
import { RunFailed, withOutput } from '../domain/run.ts';
import { AppError } from '../errors.ts';
import { GitFailed } from '../git/engine.ts';
import { HostClosed } from '../git/remote-url.ts';
import type { Jobs } from '../queue/names.ts';
import { credentialFor, remoteFor } from '../repositories/credentials.ts';
import { openCheckout } from '../repositories/reader.ts';
import { readBase } from '../repositories/settings/repository-settings.ts';
import { findRepository, hasSecrets } from '../repositories/store.ts';
import { openCleanSandbox } from './clean-sandbox.ts';
import { addRefused, type RefusedHost } from './command-access.ts';
import { hasFailingTests, hasPassed, usualChecks } from './draft.ts';
import { chooseFiles, chosenOf, hasBesides } from './files/choose-files.ts';
import { type Readers, readersOf } from './files/private-submodules.ts';
import { prepareEnvironment } from './prepare.ts';
import { runCommands } from './run-commands.ts';
import { setupSeconds } from './set-up.ts';
import { type SetupContext, sayMissing } from './setup-context.ts';
import { findTrial, updateTrial } from './trial.ts';

/** How often a running trial shows new output. */
const reportMs = 1000;
/** The time limit of all checks together. */
const checksSeconds = 1200;
/** The time limit of the usual checks together. They decide nothing, so they leave the trial time to end. */
const usualSeconds = 600;
/** The time limit of a trial: cloning, set-up and checks. */
const trialMs = (600 + setupSeconds + checksSeconds) * 1000;

/** Runs a trial. Its result is stored, whatever happens, unless this process is stopped. */
export async function runTrial(app: App, { trialId, startedBy }: Jobs['trial']): Promise<void> {
  const em = app.db.manager;
  const trial = await findTrial(em, trialId);
  if (trial?.status !== 'running') return;
  const repository = await findRepository(em, trial.repositoryId);
  if (repository === null) return;
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(trialMs)]);
  await updateTrial(em, trialId, { beganAt: new Date() });
  const hadSecrets = await hasSecrets(em, repository);
  const report = openReport(app, trialId);
  const readers = readersOf(app, repository, startedBy === undefined ? [] : [startedBy]);
  let result: Pick<EnvironmentTrialRow, 'status' | 'problem'>;
  try {
    const commands = await tryOut(app, readers, signal, report);
    const counted = commands.filter(({ isTried }) => !isTried);
    const { missing } = report.lacks();
    const isReady = counted.every(({ exitCode }) => exitCode === 0) && missing.length === 0;
    result = { status: isReady ? 'ready' : 'failed', problem: missing.length === 0 ? null : sayMissing(missing) };
  } catch (error) {
    // This process is stopping, so the queue has another worker repeat the trial.
    if (app.stopping.aborted) throw error;
    result = { status: 'failed', problem: problemOf(app, error) };
  } finally {
    await report.stop();
  }
  const commands = report.commands();
  await app.db.transaction(async (own) => {
    const change = {
      ...result,
      image: report.image(),
      commands,
      ...report.lacks(),
      refusedHosts: report.refused(),
      finishedAt: new Date(),
    };
    const isStored = await updateTrial(own, trialId, change);
    if (!isStored || trial.issueNumber === null) return;
    // The output of commands may quote a private submodule.
    const hasAny = hadSecrets || readers.entered.size > 0 || (await hasSecrets(own, repository));
    await app.queue.send(own, 'trialAnswer', { trialId, hadSecrets: hasAny });
  });
}

type Report = ReturnType<typeof openReport>;

/** Stores the commands of a trial while they run, at most once a second. */
function openReport(app: App, trialId: string) {
  let commands: TrialCommand[] = [];
  let image: string | null = null;
  let refused: RefusedHost[] = [];
  let lacks: Pick<EnvironmentTrialRow, 'missing' | 'unknown' | 'checkout'> = { missing: [], unknown: [], checkout: [] };
  let isNew = false;
  let storing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    if (!isNew) return;
    isNew = false;
    storing = updateTrial(app.db.manager, trialId, { commands, image }).catch((error) =>
      app.log.warn({ err: error, trialId }, 'the progress of a trial was not stored'),
    );
  }, reportMs);
  return {
    commands: () => commands,
    image: () => image,
    refused: () => refused,
    lacks: () => lacks,
    lack: (found: typeof lacks) => {
      lacks = found;
    },
    refuse: (hosts: RefusedHost[]) => {
      refused = hosts;
    },
    show: (shown: TrialCommand[]) => {
      commands = shown;
      isNew = true;
    },
    use: (used: string | null) => {
      image = used;
      isNew = true;
    },
    stop: async () => {
      clearInterval(timer);
      await storing;
    },
  };
}

async function tryOut(app: App, readers: Readers, signal: AbortSignal, report: Report) {
  const { own: repository } = readers;
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const { settings, head: commit } = await readBase(checkout, repository);
    await chooseFiles(checkout, { app, remote, settings, signal, readers });
    await checkout.checkout(commit);
    report.use(settings.image ?? null);
    const context = { app, repository, checkout, settings, readers, signal, note: async () => {} };
    return await tryCommit(context, commit, report);
  } finally {
    await remove();
  }
}

async function tryCommit(context: SetupContext, commit: string, report: Report): Promise<TrialCommand[]> {
  const { checkout, settings } = context;
  if (!context.app.sandbox.state.works) throw new RunFailed('sandbox', context.app.sandbox.state.says);
  const environment = await prepareEnvironment({ ...context, onCommands: report.show }, commit, { isTrial: true });
  try {
    const setup = environment.commands;
    report.refuse(environment.refused);
    const files = await checkout.files(commit);
    const has = await hasBesides(checkout, commit, files);
    report.lack({ missing: environment.missing, unknown: environment.plan.unknown, checkout: has });
    report.show(setup);
    const fresh = await openCleanSandbox(environment, await checkout.treeOf(commit));
    try {
      const after = (before: TrialCommand[], mark: Partial<TrialCommand>) => (more: TrialCommand[]) => [
        ...before,
        ...more.map((each) => ({ ...each, ...mark })),
      ];
      const run = async (commands: string[], withBefore: ReturnType<typeof after>, seconds = checksSeconds) => {
        const onCommands = (more: TrialCommand[]) => report.show(withBefore(more));
        const how = { seconds, signal: fresh.signal, goesOn: true, secrets: [] };
        return withBefore(await runCommands({ ...context, onCommands }, fresh.machine, commands, how));
      };
      let done = await run(settings.checks, after(setup, { isCheck: true }));
      const usual = settings.checks.length > 0 ? [] : await usualChecks(checkout, commit, chosenOf(settings, files));
      const end = performance.now() + usualSeconds * 1000;
      for (const alternatives of usual)
        for (const command of alternatives) {
          const left = Math.floor((end - performance.now()) / 1000);
          if (left < 1) break;
          done = await run([command], after(done, { isCheck: true, isTried: true }), left);
          const last = done.at(-1);
          if (last !== undefined && (hasPassed(last) || hasFailingTests(last))) break;
        }
      report.refuse(addRefused(environment.refused, fresh.refused()));
      return done;
    } finally {
      await fresh.close();
    }
  } finally {
    await environment.remove();
  }
}

/** Says why a trial failed, without anything that only the operator may know. */
function problemOf(app: App, error: unknown): string {
  if (error instanceof RunFailed) return withOutput(error.failure);
  if (error instanceof GitFailed || error instanceof HostClosed || error instanceof AppError) return error.message;
  if ((error as { name?: string }).name === 'TimeoutError')
    return `the trial took more than ${trialMs / 60_000} minutes`;
  app.log.error({ err: error }, 'a trial failed');
  return 'an internal error occurred; the log of the service has the details';
}

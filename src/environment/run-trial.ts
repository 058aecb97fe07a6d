import type { App } from '../app.ts';
import { type EnvironmentTrialRow, noFindings, type TrialCommand } from '../db/tables/environment.ts';
import { RunFailed, withOutput } from '../domain/run.ts';
import { AppError } from '../errors.ts';
import { GitFailed } from '../git/engine.ts';
import { HostClosed } from '../git/remote-url.ts';
import type { Jobs } from '../queue/names.ts';
import { credentialFor, remoteFor } from '../repositories/credentials.ts';
import { openCheckout } from '../repositories/reader.ts';
import { noSettings, parseSettings, readBase, settingsFile } from '../repositories/settings/repository-settings.ts';
import { findRepository, hasSecrets } from '../repositories/store.ts';
import { type CleanSandbox, openCleanSandbox } from './clean-sandbox.ts';
import { addRefused, type RefusedHost } from './command-access.ts';
import { detectSetup, imageWith, readManifest } from './detect.ts';
import { draftSettings } from './draft/draft-settings.ts';
import { composeServices, neededServices } from './draft/needed-services.ts';
import { hasFailingTests, hasPassed, type UsualChecks, usualChecks } from './draft/usual-checks.ts';
import type { Environment } from './environment.ts';
import { chooseFiles, chosenOf, hasBesides } from './files/choose-files.ts';
import { type Readers, readersOf } from './files/private-submodules.ts';
import { prepareEnvironment } from './prepare.ts';
import { runCommands } from './run-commands.ts';
import { missingPrograms, setupSeconds } from './set-up.ts';
import { type MissingProgram, type SetupContext, sayMissing, sayUnlisted } from './setup-context.ts';
import { findEnvironmentTrial, updateEnvironmentTrial } from './trial.ts';

/** How often a running trial shows new output. */
const reportMs = 1000;
/** The time limit of all checks together. */
const checksSeconds = 1200;
/** The time limit of the usual checks together. They decide nothing, so they leave the trial time to end. */
const usualSeconds = 600;
/** The time limit of a trial: cloning, set-up and checks. */
const trialMs = (600 + setupSeconds + checksSeconds) * 1000;

/** Runs a trial. Its result is stored, whatever happens, unless this process is stopped. */
export async function runEnvironmentTrial(app: App, { trialId, startedBy }: Jobs['trial']): Promise<void> {
  const em = app.db.manager;
  const trial = await findEnvironmentTrial(em, trialId);
  if (trial?.status !== 'running') return;
  const repository = await findRepository(em, trial.repositoryId);
  if (repository === null) return;
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(trialMs)]);
  await updateEnvironmentTrial(em, trialId, { beganAt: new Date() });
  const hadSecrets = await hasSecrets(em, repository);
  const report = openReport(app, trialId);
  const readers = readersOf(app, repository, startedBy === undefined ? [] : [startedBy]);
  let result: Pick<EnvironmentTrialRow, 'status' | 'problem'>;
  try {
    const { commands, missing, unlisted } = await tryOut(app, readers, signal, report);
    const counted = commands.filter(({ isTried }) => !isTried);
    const isReady = counted.every(({ exitCode }) => exitCode === 0) && missing.length === 0;
    const problem = [sayMissing(missing), sayUnlisted(unlisted)].filter((text) => text !== '').join('\n');
    result = { status: isReady ? 'ready' : 'failed', problem: problem === '' ? null : problem };
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
    const isStored = await updateEnvironmentTrial(own, trialId, change);
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
  let lacks: Pick<EnvironmentTrialRow, 'missing' | 'unknown' | 'found'> = {
    missing: [],
    unknown: [],
    found: noFindings,
  };
  let isNew = false;
  let storing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    if (!isNew) return;
    isNew = false;
    storing = updateEnvironmentTrial(app.db.manager, trialId, { commands, image }).catch((error) =>
      app.log.warn({ err: error, trialId }, 'the progress of a trial was not stored'),
    );
  }, reportMs);
  return {
    commands: () => commands,
    image: () => image,
    refused: () => refused,
    lacks: () => lacks,
    lack: (more: Partial<typeof lacks>) => {
      lacks = { ...lacks, ...more };
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
    let file = '';
    const { settings, trusted: commit } = await readBase(checkout, { repository, remote }, async (head) => {
      const read = await checkout.readFile(head, settingsFile);
      file = Buffer.isBuffer(read) ? read.toString('utf8').replace(/^\uFEFF/, '') : '';
      return read === undefined ? noSettings : parseSettings(read);
    });
    await chooseFiles(checkout, { app, remote, settings, signal, readers });
    await checkout.checkout(commit);
    report.use(settings.image ?? null);
    const context = { app, repository, checkout, settings, readers, signal, note: async () => {} };
    return await tryCommit(context, { commit, file }, report);
  } finally {
    await remove();
  }
}

/** What decides whether a trial is ready. */
interface TriedCommit {
  commands: TrialCommand[];
  /** The detected commands whose programs are missing. */
  missing: MissingProgram[];
  /** Those that the files ask for, and that are not among the commands of .deckhand.yml. */
  unlisted: MissingProgram[];
}

/** `file` is the text of .deckhand.yml. */
async function tryCommit(
  context: SetupContext,
  { commit, file }: { commit: string; file: string },
  report: Report,
): Promise<TriedCommit> {
  const { checkout, settings } = context;
  if (!context.app.sandbox.state.works) throw new RunFailed('sandbox', context.app.sandbox.state.says);
  const environment = await prepareEnvironment({ ...context, onCommands: report.show }, commit, { isTrial: true });
  try {
    const { commands: setup, missing, plan } = environment;
    report.refuse(environment.refused);
    const files = await checkout.files(commit);
    const has = await hasBesides(checkout, commit, files);
    report.lack({ missing, unknown: plan.unknown, found: { ...noFindings, checkout: has } });
    report.show(setup);
    const fresh = await openCleanSandbox(environment, await checkout.treeOf(commit));
    try {
      const chosen = await chosenOf(settings, files);
      const detected = await detectSetup(chosen.keys(), await readManifest(checkout, commit));
      const isListed = !plan.isDetected && settings.setup !== 'none';
      const unlisted = isListed ? await missingPrograms(detected.commands, fresh.machine, fresh.signal) : [];
      const searched = { paths: chosen, folders: detected.folders, isDetected: plan.isDetected };
      const usual = settings.checks.length > 0 ? noUsualChecks : await usualChecks(checkout, commit, searched);
      const { commands, failing } = await runChecks(context, fresh, { setup, usual: usual.checks }, report);
      const refused = addRefused(environment.refused, fresh.refused());
      report.refuse(refused);
      const compose = await composeServices(checkout, commit, chosen);
      const needed = neededServices(
        [...setup, ...failing].filter(({ exitCode }) => exitCode !== 0).map(({ output }) => output),
        compose,
      );
      const draft = await draftSettings({
        ...{ file, settings, setup, needed, checkout: has },
        tried: commands.filter(({ isTried }) => isTried),
        refusedHosts: refused.map(({ host }) => host),
        missing: missing.map((each) => ({ ...each, image: imageWith(each.program) })),
      });
      const found = { checkout: has, services: needed.services, unchecked: usual.unchecked, draft };
      report.lack({ missing: [...missing, ...unlisted], found });
      return { commands, missing, unlisted };
    } finally {
      await fresh.close();
    }
  } finally {
    await environment.remove();
  }
}

const noUsualChecks: UsualChecks = { checks: [], unchecked: [] };

/** Runs the checks of .deckhand.yml, or the usual ones. Returns all commands so far, and the checks for which nothing passed. */
async function runChecks(
  context: SetupContext,
  fresh: CleanSandbox,
  { setup, usual }: { setup: Environment['commands']; usual: UsualChecks['checks'] },
  report: Report,
): Promise<{ commands: TrialCommand[]; failing: TrialCommand[] }> {
  const after = (before: TrialCommand[], mark: Partial<TrialCommand>) => (more: TrialCommand[]) => [
    ...before,
    ...more.map((each) => ({ ...each, ...mark })),
  ];
  const run = async (commands: string[], withBefore: ReturnType<typeof after>, seconds = checksSeconds) => {
    const onCommands = (more: TrialCommand[]) => report.show(withBefore(more));
    const how = { seconds, signal: fresh.signal, goesOn: true, secrets: [] };
    return withBefore(await runCommands({ ...context, onCommands }, fresh.machine, commands, how));
  };
  let done = await run(context.settings.checks, after(setup, { isCheck: true }));
  const failing = done.slice(setup.length);
  const end = performance.now() + usualSeconds * 1000;
  for (const alternatives of usual) {
    const before = done.length;
    for (const command of alternatives) {
      const left = Math.floor((end - performance.now()) / 1000);
      if (left < 1) break;
      done = await run([command], after(done, { isCheck: true, isTried: true }), left);
      const last = done.at(-1);
      if (last !== undefined && (hasPassed(last) || hasFailingTests(last))) break;
    }
    if (!done.slice(before).some(hasPassed)) failing.push(...done.slice(before));
  }
  return { commands: done, failing };
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

import type { App } from '../app.ts';
import { commandFailed, RunFailed, withOutput } from '../domain/run.ts';
import { GitFailed } from '../git/engine.ts';
import { traced } from '../tracing/traced.ts';
import { setUpEarlier } from './change/set-up-earlier.ts';
import type { Environment } from './environment.ts';
import { toldOfFiles } from './files/choose-files.ts';
import { mayUse } from './files/private-submodules.ts';
import { DamagedArchive, tooLongPath } from './keep/archive.ts';
import { type EnvironmentFiles, openFiles } from './keep/environment-files.ts';
import { type KeptSetup, keptStore } from './keep/kept-store.ts';
import { packageCaches } from './keep/package-caches.ts';
import { planSetup, type SetupPlan } from './plan-setup.ts';
import { revealSecrets } from './secrets/secrets.ts';
import { saidOf, setUp } from './set-up.ts';
import { type CommandResult, type SetupContext, takeImage } from './setup-context.ts';

/** For each key, a promise that resolves when its last caller has finished. */
const queues = new Map<string, Promise<void>>();

/** Runs `work` while no other caller in this process uses the same key. @throws the reason of the signal */
export async function onePerKey<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const before = queues.get(key) ?? Promise.resolve();
  const { promise: over, resolve: leave } = Promise.withResolvers<void>();
  const mine = before.then(() => over);
  queues.set(key, mine);
  try {
    await orAborted(before, signal);
    return await work();
  } finally {
    leave();
    void mine.then(() => {
      if (queues.get(key) === mine) queues.delete(key);
    });
  }
}

async function orAborted(waited: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** How an environment is prepared. */
interface Preparing {
  /** A trial shows whether set-up works now, so it always runs. */
  isTrial?: boolean;
  /** Whether commands will run. */
  isNeeded?: boolean;
  /** The head of the base branch, if the environment is of an earlier commit. */
  trusted?: string;
}

/**
 * Prepares the environment of a repository at a commit of its base branch: restores what an earlier set-up made, or runs
 * set-up and keeps what it makes. If it is not needed, because nothing will run, only its plan is made. Set-up of an earlier
 * commit gets what the head makes, or runs by the rules for a change of the head, without secrets, and nothing of it is kept.
 * @throws RunFailed `setup`
 */
export async function prepareEnvironment(
  given: SetupContext,
  commit: string,
  { isTrial = false, isNeeded: isAsked = true, trusted: head = commit }: Preparing = {},
): Promise<Environment> {
  const { app, signal } = given;
  const began = performance.now();
  const secrets = await revealSecrets(app, given.repository);
  const files = await openFiles(app);
  const takesImage = isAsked ? takeImage(given, secrets) : Promise.resolve(undefined);
  const image = await takesImage.catch(async (error) => {
    await files.remove();
    throw error;
  });
  const context: SetupContext = { ...given, image, isOutputHidden: secrets.length > 0 };
  const remove = async () => {
    image?.release();
    await files.remove();
  };
  try {
    const trusted = await planSetup(context, head, secrets);
    const { plan, isEarlier } = await planOf(context, commit, trusted);
    const isNeeded = isAsked && plan.commands.length > 0 && app.sandbox.state.works;
    const make = () =>
      isEarlier ? makeEarlier(context, { plan, trusted }, files) : makeReady(context, trusted, files, isTrial);
    const ready = isNeeded
      ? await traced('set-up', {}, () => (isEarlier ? make() : onePerKey(plan.key, signal, make)))
      : { how: 'none' as const, commands: [], missing: [], refused: [] };
    const seconds = (performance.now() - began) / 1000;
    if (isNeeded) count(app, ready.how, seconds);
    if (ready.how === 'restored') await context.note('setup', `restored the environment in ${seconds.toFixed(1)} s`);
    const placeInto: Environment['placeInto'] = (workTree, confinement) =>
      files.placeInto(workTree, confinement, signal);
    const told = toldOf(ready, plan, context);
    const used = commit === head ? context : closedFor(context);
    return { ...ready, context: used, plan, seconds, told, placeInto, removeLater: files.removeLater, remove };
  } catch (error) {
    if (!signal.aborted) count(app, 'failed', (performance.now() - began) / 1000);
    await remove();
    throw error;
  }
}

/**
 * Plans the set-up of a commit that may be earlier than the trusted one. Where both would make the same, the files of the
 * trusted one do.
 */
async function planOf(
  context: SetupContext,
  commit: string,
  trusted: SetupPlan,
): Promise<{ plan: SetupPlan; isEarlier: boolean }> {
  if (commit === trusted.commit) return { plan: trusted, isEarlier: false };
  const own = { ...(await planSetup(context, commit, trusted.secrets)), secrets: [] };
  return { plan: own, isEarlier: own.key !== trusted.key };
}

/** A change of an earlier commit has no trusted base whose configuration package managers could fetch with. */
function closedFor(context: SetupContext): SetupContext {
  return { ...context, settings: { ...context.settings, setupOfChange: 'closed' } };
}

function count({ metrics }: App, outcome: string, seconds: number): void {
  metrics.setups.inc({ outcome });
  metrics.setupSeconds.observe({ outcome }, seconds);
}

type Ready = Pick<Environment, 'how' | 'commands' | 'missing' | 'refused'>;

/** Writes what the agent should know about its environment; empty if there is nothing to say. */
function toldOf(
  { how, commands, missing }: Pick<Ready, 'how' | 'commands' | 'missing'>,
  { unknown }: SetupPlan,
  { settings, isOutputHidden }: SetupContext,
): string {
  const failed = how === 'failed' ? commands.filter(({ exitCode }) => exitCode !== 0) : [];
  const failures = failed.map(saidOf).map((said) => (isOutputHidden ? said.message : withOutput(said)));
  const services = settings.services.map(({ run, port }) => `- ${run}${port === undefined ? '' : ` (port ${port})`}`);
  const hosts = settings.network.agent;
  return [
    toldOfFiles(settings),
    failed.length === 0
      ? ''
      : `The dependencies could not be installed, so commands that need them fail:\n${failures.join('\n')}`,
    missing.length === 0
      ? ''
      : `These programs are not installed here, so their packages are missing:\n${missing.map(({ program, command }) => `- ${program} (${command})`).join('\n')}`,
    unknown.length === 0 ? '' : `Nothing was installed for these files: ${unknown.join(', ')}`,
    services.length === 0 ? '' : `These services run on localhost while you work:\n${services.join('\n')}`,
    hosts.length === 0 ? '' : `Commands can reach these hosts over https, and no others: ${hosts.join(', ')}`,
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

async function makeReady(
  context: SetupContext,
  plan: SetupPlan,
  files: EnvironmentFiles,
  isTrial: boolean,
): Promise<Ready> {
  // A trial shows whether set-up works now, so it always runs.
  if (!isTrial && (await restore(context, plan, files)))
    return { how: 'restored', commands: [], missing: [], refused: [] };
  const known = isTrial || !plan.isDetected ? undefined : await keptStore(context.app.keptDir).failure(plan.key);
  if (known !== undefined) {
    await context.note(
      'setup',
      `set-up failed ${agoOf(known.at)}, and what it depends on is the same, so it is not tried again; \`/agent setup\` tries it now`,
    );
    return { how: 'failed', commands: known.commands, missing: [], refused: [] };
  }
  const began = performance.now();
  const made = await setUp(context, plan, files.making);
  const { commands, missing, refused } = made;
  if (made.failed.length > 0) {
    // A program may be installed later, which the key does not tell. Output may quote a private submodule.
    const mayBeKnown = missing.length === 0 && (context.readers?.entered ?? new Set()).size === 0;
    if (mayBeKnown) await keepFailure(context, plan.key, commands);
    return { how: 'failed', commands, missing, refused };
  }
  const seconds = (performance.now() - began) / 1000;
  // This run uses what was unpacked from the archive. It then has exactly what later runs get, without extended
  // attributes, which are not searched for secrets; and an archive that cannot be unpacked is never kept.
  const packed = await files
    .pack(made.names, context.signal)
    .catch((error) => failed(context, 'what set-up made could not be packed', error));
  const submodules = [...(context.readers?.entered ?? [])];
  if (missing.length === 0) await keep(context, plan, files, { ...packed, seconds, submodules }, made.caches);
  files.discard();
  return { how: commands.length === 0 ? 'none' : 'set up', commands, missing, refused };
}

async function makeEarlier(
  context: SetupContext,
  plans: { plan: SetupPlan; trusted: SetupPlan },
  files: EnvironmentFiles,
): Promise<Ready> {
  await context.note('setup', 'set-up of this commit is not that of the newest one, so it gets no secrets');
  const { commands, missing, refused, names } = await setUpEarlier(context, plans, files.making);
  await files
    .pack(names, context.signal)
    .catch((error) => failed(context, 'what set-up made could not be packed', error));
  files.discard();
  return { how: 'set up', commands, missing, refused };
}

/** Unpacks what an earlier set-up made. Returns false if there is nothing, or if it cannot be used. */
async function restore(context: SetupContext, plan: SetupPlan, files: EnvironmentFiles): Promise<boolean> {
  const { app, signal } = context;
  const store = keptStore(app.keptDir);
  try {
    const known = await store.find(plan.key);
    if (known === undefined) return false;
    if (!(await mayUse(app, context.readers, known.submodules ?? []))) {
      // Set-up then names the submodule and the person, unless it does not need that submodule any more.
      await context.note('setup', 'the kept environment is not used, because it may hold files of a private submodule');
      return false;
    }
    if (files.takeUnpacked(plan.key, known.sha256)) return true;
    const kept = await store.take(plan.key, files.archive);
    if (kept?.sha256 !== known.sha256) {
      await files.clear();
      return false;
    }
    await files.unpack(kept, signal);
    await files.share(plan.key);
    return true;
  } catch (error) {
    if (error instanceof GitFailed) throw error;
    if (isDiskFull(error)) return failed(context, 'the kept environment could not be unpacked', error);
    signal.throwIfAborted();
    app.log.warn({ err: error, key: plan.key }, 'a kept environment could not be used');
    const why = error instanceof DamagedArchive ? error.message : 'it cannot be unpacked';
    await context.note('setup', `the kept environment is damaged (${why}); setting up again`);
    await store.remove(plan.key).catch((err) => app.log.warn({ err }, 'a damaged environment could not be removed'));
    await files.clear();
    return false;
  }
}

/** Keeps an archive for later runs. Without it, they have to set up again, but this run can go on. */
async function keep(
  { app, signal, note }: SetupContext,
  { key, cachesKey }: SetupPlan,
  files: EnvironmentFiles,
  kept: KeptSetup,
  caches: string | undefined,
): Promise<void> {
  try {
    await keptStore(app.keptDir).add(key, files.archive, kept);
    await files.share(key);
    if (caches !== undefined) await packageCaches(app.keptDir).add(cachesKey, caches, signal);
    await trim(app);
  } catch (error) {
    signal.throwIfAborted();
    app.log.warn({ err: error }, 'an environment could not be kept');
    await note('setup', `the environment could not be kept: ${(error as Error).message}`);
  }
}

/** Remembers that detected commands failed, so that the next runs do not spend minutes on the same failure. */
async function keepFailure({ app, signal }: SetupContext, key: string, commands: CommandResult[]): Promise<void> {
  await keptStore(app.keptDir)
    .addFailure(key, commands)
    .catch((error) => {
      signal.throwIfAborted();
      app.log.warn({ err: error }, 'a failed set-up could not be remembered');
    });
}

function agoOf(at: Date): string {
  const minutes = Math.max(1, Math.round((Date.now() - at.getTime()) / 60_000));
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} hours ago`;
}

/** Fails the run because of an error with the files of its environment. */
function failed({ signal, isOutputHidden }: SetupContext, what: string, error: unknown): never {
  signal.throwIfAborted();
  const { message } = error as Error;
  const full = "the worker's disk is full; free some space there or lower ENVIRONMENT_CACHE_GB";
  const why = isDiskFull(error) ? full : message;
  // Other errors may quote names of files, which commands chose.
  if (isOutputHidden && why !== full && why !== tooLongPath)
    throw commandFailed('setup', { message: what, output: why, isOutputHidden });
  throw new RunFailed('setup', `${what}: ${why}`);
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Deletes what was least recently used. Images get at most half of the space and package caches a quarter, so that results
 * keep the rest.
 */
async function trim(app: App): Promise<void> {
  const bytes = app.config.ENVIRONMENT_CACHE_GB * 1e9;
  const others = (await app.images.trim(bytes / 2)) + (await packageCaches(app.keptDir).trim(bytes / 4));
  await keptStore(app.keptDir).trim(bytes - others);
}

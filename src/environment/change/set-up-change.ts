import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { hostMatcher } from '../../egress/host-names.ts';
import { hasSecrets } from '../../repositories/store.ts';
import { removeTree } from '../../sandbox/neutral-path.ts';
import type { Confinement, Machine } from '../../sandbox/sandbox.ts';
import { addRefused, hostsOf, openMachineWithAccess, type RefusedHost } from '../command-access.ts';
import type { Environment } from '../environment.ts';
import { chosenOf } from '../files/choose-files.ts';
import { moveInto } from '../keep/archive.ts';
import { cacheFilesIn, commandsOf } from '../plan-setup.ts';
import { runCommands } from '../run-commands.ts';
import { setupSeconds } from '../set-up.ts';
import type { CommandResult, SetupContext } from '../setup-context.ts';
import { type Fetch, fetchesOf, fromCaches, startsNothing, whileFetching } from './package-managers.ts';
import {
  type FilesForFetches,
  isOwn,
  pathsIn,
  readForFetch,
  readManifests,
  SetupNeedsApproval,
} from './read-manifests.ts';

/** What set-up of a change left. */
export interface ChangeSetUp {
  /** The commands that ran on the files of the change. */
  commands: CommandResult[];
  /** The configured command that failed. */
  failed: CommandResult | undefined;
  refused: RefusedHost[];
}

type Files = Awaited<ReturnType<SetupContext['checkout']['files']>>;

/** What a tree that nobody trusts is set up with. */
type Trusted = Pick<Environment, 'plan' | 'context' | 'how'>;

interface Place {
  tree: string;
  /** A folder of the service beside the workspace. */
  folder: string;
  work: string;
  confinement: Confinement;
  /** Whether a person allowed code of this change to use the network of set-up. */
  isApproved: boolean;
}

/**
 * Puts the environment into a place, or makes a new one where the change alters a file that decides about set-up. Set-up
 * of a change has two phases: package managers fetch with the network of set-up, without code of the change; then all
 * commands run with the network of agents, and take from the caches what was fetched.
 * @throws SetupNeedsApproval
 */
export async function setUpChange(environment: Environment, place: Place): Promise<ChangeSetUp> {
  const { plan, context } = environment;
  const { tree, work, confinement } = place;
  const { checkout, settings, note } = context;
  const files = await chosenOf(settings, await checkout.files(tree), await checkout.files(plan.commit));
  if (isSame(await cacheFilesIn(files, settings.cache), plan.files)) {
    await environment.placeInto(work, confinement);
    await confinement.own(work);
    return nothingRan;
  }
  await confinement.own(work);
  const chosen = await commandsOf(settings.setup, files, { checkout, commit: tree });
  const commands = chosen.commands.map(({ command }) => command);
  if (commands.length === 0) return nothingRan;
  await note('setup', 'the change alters files that decide about set-up, so set-up runs again for the checks');
  return setUpWith(environment, place, commands, files);
}

const nothingRan: ChangeSetUp = { commands: [], failed: undefined, refused: [] };

/**
 * Runs the commands of set-up on the files of a tree that nobody trusts. The configuration of package managers is that of the
 * plan's commit.
 * @throws SetupNeedsApproval
 */
export async function setUpWith(
  environment: Trusted,
  place: Place,
  commands: string[],
  files: Files,
): Promise<ChangeSetUp> {
  const { settings } = environment.context;
  if (place.isApproved) return runAll(environment, place, commands, 'setup', {});
  if (settings.setupOfChange === 'approved')
    throw new SetupNeedsApproval(['.deckhand.yml: setupOfChange is approved, and the change alters what set-up reads']);
  if (settings.setupOfChange === 'closed') return runAll(environment, place, commands, 'agent', {});
  return fetchAndBuild(environment, place, commands, files);
}

async function fetchAndBuild(
  environment: Trusted,
  place: Place,
  commands: string[],
  files: Files,
): Promise<ChangeSetUp> {
  const { plan, context } = environment;
  const fetches = commands.flatMap(fetchesOf);
  const base = await chosenOf(context.settings, await context.checkout.files(plan.commit));
  const trees = { base, change: files };
  const read = await readManifests(context.checkout, trees, fetches).catch(approvalNeeded);
  // Set-up of the base fails even with its network, so an approval would gain nothing.
  if (read instanceof SetupNeedsApproval && environment.how === 'failed')
    return runAll(environment, place, commands, 'agent', {});
  if (read instanceof SetupNeedsApproval) throw read;
  const { folder, work, confinement } = place;
  const how = { folder, home: `${work}.home`, confinement, seconds: setupSeconds };
  const fetched = await fetchPackages(context, { fetches, files: read }, how);
  const needed = fetched.failed.flatMap(({ codeNeeded }) => codeNeeded ?? []);
  if (needed.length > 0) throw new SetupNeedsApproval(needed);
  const [failed] = fetched.failed;
  if (failed !== undefined && !plan.isDetected)
    return { ...nothingRan, failed: failed.result, refused: fetched.refused };
  const done = fetches.filter((fetch) => fetched.failed.every((each) => each.fetch !== fetch));
  const variables = Object.assign({}, ...done.map(({ manager }) => fromCaches[manager]));
  const built = await runAll(environment, place, commands, 'agent', variables);
  return { ...built, refused: addRefused(fetched.refused, built.refused) };
}

/** Returns an error that asks for an approval. Throws all others again. */
function approvalNeeded(error: unknown): SetupNeedsApproval {
  if (error instanceof SetupNeedsApproval) return error;
  throw error;
}

/**
 * Runs the commands with the hosts of one list.
 * @throws SetupNeedsApproval when one fails that tried to reach a host of set-up, which an approval would allow
 */
async function runAll(
  { plan, context, how }: Trusted,
  { work, confinement }: Place,
  commands: string[],
  list: 'setup' | 'agent',
  variables: Record<string, string>,
): Promise<ChangeSetUp> {
  const opened = await openMachineWithAccess(context, list, { work, confinement, variables });
  try {
    const limits = { seconds: setupSeconds, signal: confinement.signal, goesOn: plan.isDetected, secrets: [] };
    const results = await runCommands(context, opened.machine, commands, limits);
    const failed = results.find(({ exitCode }) => exitCode !== 0);
    const refused = opened.refused();
    const mayAsk = list === 'agent' && context.settings.setupOfChange === 'packages' && how !== 'failed';
    if (failed !== undefined && mayAsk) await assertNotForNetwork(context, failed, refused);
    return { commands: results, failed: plan.isDetected ? undefined : failed, refused };
  } finally {
    await opened.close();
  }
}

/**
 * GitHub shows the reason. It names no hosts while the repository has secrets, because commands choose what they ask for.
 * @throws SetupNeedsApproval when a command was refused a host that set-up may reach
 */
async function assertNotForNetwork(
  context: SetupContext,
  { command }: CommandResult,
  refused: RefusedHost[],
): Promise<void> {
  const isOfSetup = hostMatcher(await hostsOf(context, 'setup'));
  const hosts = refused.map(({ host }) => host).filter(isOfSetup);
  if (hosts.length === 0) return;
  const isSecret = await hasSecrets(context.app.db.manager, context.repository);
  const which = isSecret ? 'the log names the refused hosts' : `refused: ${hosts.slice(0, 5).join(', ')}`;
  throw new SetupNeedsApproval([`${command.slice(0, 200)}: it failed without the network of set-up; ${which}`]);
}

function isSame(a: Map<string, string>, b: Map<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, oid]) => b.get(path) === oid);
}

/** What the fetches of a change left. */
interface Fetched {
  failed: FailedFetch[];
  refused: RefusedHost[];
}

interface FailedFetch {
  fetch: Fetch;
  result: CommandResult;
  /** Set if it failed because code of a package would have to run: the file and why. */
  codeNeeded: string | undefined;
}

/** The most programs of Rust for which an empty file is written. */
const maxTargets = 3000;

/**
 * Fetches the packages of a change into a home folder, with the network of set-up. Each fetch runs in a folder of its own
 * that has the manifests of the change, the configuration of the base, and nothing else of the repository: whatever a
 * package manager might run, it finds no code of the change and no source to send away.
 */
async function fetchPackages(
  context: SetupContext,
  { fetches, files }: { fetches: Fetch[]; files: FilesForFetches },
  { folder, home, confinement, seconds }: { folder: string; home: string; confinement: Confinement; seconds: number },
): Promise<Fetched> {
  const fetched: Fetched = { failed: [], refused: [] };
  const end = performance.now() + seconds * 1000;
  for (const [i, fetch] of fetches.entries()) {
    const place = join(folder, `fetch${i}`);
    const work = join(place, 'work');
    const { texts, changesGo } = await readForFetch(fetch, files);
    await writeFiles(work, fetch, { texts, files });
    await mkdir(join(place, 'git', 'objects'), { recursive: true });
    await confinement.own(work);
    // A Go that the change chooses is not downloaded.
    const variables = { ...whileFetching, ...(changesGo ? { GOTOOLCHAIN: 'local' } : {}) };
    const opened = await openMachineWithAccess(context, 'setup', {
      work,
      confinement,
      variables,
      gitDir: join(place, 'git'),
    });
    try {
      const command = fetch.folder === '' ? fetch.command : `cd ${fetch.folder} && ${fetch.command}`;
      const left = Math.max(1, (end - performance.now()) / 1000);
      const limits = { seconds: left, signal: confinement.signal, goesOn: false, secrets: [], before: fetch.guard };
      const [result] = await runCommands(context, opened.machine, [command], limits);
      if (result !== undefined && result.exitCode !== 0)
        fetched.failed.push({ fetch, result, codeNeeded: await codeNeeded(opened.machine, fetch, result) });
      fetched.refused = addRefused(fetched.refused, opened.refused());
    } finally {
      await opened.close();
    }
    await moveInto(`${work}.home`, home);
    await removeTree(place);
  }
  return fetched;
}

/** Writes the manifests of a change for one package manager, and its configuration of the base. */
async function writeFiles(
  work: string,
  { manager }: Fetch,
  { texts, files }: { texts: Map<string, string>; files: FilesForFetches },
): Promise<void> {
  await mkdir(work, { recursive: true, mode: 0o755 });
  const write = async (path: string, content: string | Buffer) => {
    try {
      await mkdir(dirname(join(work, path)), { recursive: true });
      await writeFile(join(work, path), content);
    } catch (error) {
      // The base has a file where the change has a folder, or the other way round.
      if (!['EEXIST', 'EISDIR', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  };
  for (const [path, text] of texts) await write(path, text);
  for (const [path, oid] of files.others.get(manager) ?? []) await write(path, files.contents.get(oid) ?? '');
  if (manager !== 'cargo') return;
  // Cargo only looks whether its targets exist.
  const targets = await pathsIn(files.change, (path) => path.endsWith('.rs') && isOwn(path));
  for (const path of targets.slice(0, maxTargets)) await write(path, '');
}

/**
 * Says that a fetch failed because code of a package would have to run: it has no wheel, or comes from git. Returns undefined
 * if the fetch failed for another reason, such as a typing error.
 */
async function codeNeeded(
  machine: Machine,
  { manager, folder, requirements, versions }: Fetch,
  { command, output }: CommandResult,
): Promise<string | undefined> {
  const named: Partial<Record<Fetch['manager'], string>> = { uv: 'uv.lock', npm: posix.join(folder, 'package.json') };
  const file = named[manager] ?? requirements[0] ?? command.slice(0, 200);
  if (/\btransport '\w+' not allowed|\bEALLOWGIT\b/.test(output))
    return `${file}: a package comes from git, so its own scripts could run to prepare it`;
  if (output.includes(startsNothing)) return `${file}: a package that it needs would run its own code to be fetched`;
  if (manager !== 'pip' && /\bENOENT\b|\b[Nn]o such file or directory\b/.test(output))
    return `${file}: fetching its packages needs more files of the change than manifests`;
  const withoutWheel = (name: string) =>
    `${file}: there is no wheel of ${name}, so its own code would run to install it`;
  if (manager === 'uv') {
    const [, name = 'a package'] = /[Dd]istribution `?([\w.=-]+)/.exec(output) ?? [];
    return /--no-build|no (usable|compatible) wheel|no binary distribution/.test(output)
      ? withoutWheel(name)
      : undefined;
  }
  const [, name, version = ''] =
    /No matching distribution found for ([A-Za-z0-9][\w.-]*)(?:==([\w.]+))?/.exec(output) ?? [];
  if (manager !== 'pip' || name === undefined || versions === undefined) return undefined;
  // Asks the index, which runs nothing, whether it has the package at all.
  const index = await machine.run(`${versions} ${name}`, { seconds: 60 });
  const found = index.exitCode === 0 ? index.output.split(/[\s,()]+/) : [];
  return found.some((each) => version === '' || each === version) ? withoutWheel(name) : undefined;
}

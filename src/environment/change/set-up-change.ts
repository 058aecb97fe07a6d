import { hostMatcher } from '../../egress/host-names.ts';
import { hasSecrets } from '../../repositories/store.ts';
import type { Confinement } from '../../sandbox/sandbox.ts';
import { addRefused, hostsOf, openMachineWithAccess, type RefusedHost } from '../command-access.ts';
import { detectSetup } from '../detect.ts';
import { cacheFilesIn } from '../plan-setup.ts';
import type { Environment } from '../prepare.ts';
import { runCommands } from '../run-commands.ts';
import { setupSeconds } from '../set-up.ts';
import type { CommandResult, SetupContext } from '../setup-context.ts';
import { fetchPackages } from './fetch-packages.ts';
import { fetchesOf, fromCaches } from './package-managers.ts';
import { readManifests } from './read-manifests.ts';
import { SetupNeedsApproval } from './setup-needs-approval.ts';

/** What set-up of a change left. */
export interface ChangeSetUp {
  /** The configured command that failed. */
  failed: CommandResult | undefined;
  refused: RefusedHost[];
}

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
  const { tree, work, confinement, isApproved } = place;
  const { checkout, settings, note } = context;
  const files = await checkout.files(tree);
  if (isSame(await cacheFilesIn(files, settings.cache), plan.files)) {
    await environment.placeInto(work, confinement);
    await confinement.own(work);
    return { failed: undefined, refused: [] };
  }
  await confinement.own(work);
  const commands = (plan.isDetected ? detectSetup(files.keys()) : plan.commands).map(({ command }) => command);
  if (commands.length === 0) return { failed: undefined, refused: [] };
  await note('setup', 'the change alters files that decide about set-up, so set-up runs again for the checks');
  if (isApproved) return runAll(environment, place, commands, 'setup', {});
  if (settings.setupOfChange === 'approved')
    throw new SetupNeedsApproval(['.deckhand.yml: setupOfChange is approved, and the change alters what set-up reads']);
  if (settings.setupOfChange === 'closed') return runAll(environment, place, commands, 'agent', {});
  return fetchAndBuild(environment, place, commands, files);
}

type Files = Awaited<ReturnType<SetupContext['checkout']['files']>>;

async function fetchAndBuild(
  environment: Environment,
  place: Place,
  commands: string[],
  files: Files,
): Promise<ChangeSetUp> {
  const { plan, context } = environment;
  const fetches = commands.flatMap(fetchesOf);
  const trees = { base: await context.checkout.files(plan.commit), change: files };
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
  if (failed !== undefined && !plan.isDetected) return { failed: failed.result, refused: fetched.refused };
  const done = fetches.filter((fetch) => fetched.failed.every((each) => each.fetch !== fetch));
  const variables = Object.assign({}, ...done.map(({ manager }) => fromCaches[manager]));
  const built = await runAll(environment, place, commands, 'agent', variables);
  return { failed: built.failed, refused: addRefused(fetched.refused, built.refused) };
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
  { plan, context, how }: Environment,
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
    return { failed: plan.isDetected ? undefined : failed, refused };
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

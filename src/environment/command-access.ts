import { commandFailed } from '../domain/run.ts';
import { egressPort } from '../domain/settings.ts';
import { proxyVariables } from '../egress/tools/tools-configuration.ts';
import { startServices } from '../sandbox/machine/machine.ts';
import type { Confinement, Machine, MachineSettings } from '../sandbox/sandbox.ts';
import type { SetupContext } from './setup-context.ts';

/** What commands get besides files: variables, and access to the hosts that they may reach. */
export interface CommandAccess {
  settings: MachineSettings;
  /** The hosts that commands tried to reach and may not, in the order of their first refusal. */
  refused(): RefusedHost[];
  close(): Promise<void>;
}

export interface RefusedHost {
  host: string;
  times: number;
}

/** In a list of hosts, stands for those that set-up may reach by default. */
const defaults = 'defaults';

/**
 * Opens the proxy to the hosts of one list. Refusals are logged. `variables` take precedence over those of
 * .deckhand.yml.
 */
export async function openCommandAccess(
  context: Pick<SetupContext, 'app' | 'settings' | 'image' | 'note' | 'reached' | 'repository'>,
  list: 'setup' | 'agent',
  confinement: Pick<Confinement, 'own' | 'signal'>,
  variables: Record<string, string> = {},
): Promise<CommandAccess> {
  const { app, settings, image, note } = context;
  const hosts = await hostsOf(context, list);
  const onRefusal = ({ host, reason, times }: { host: string; reason: string; times: number }) => {
    // The run goes on without the line. If this worker has lost the run, its signal says so.
    note('network', times === 1 ? reason : `${reason} (${times} times)`, { host, times }).catch(() => {});
  };
  const { own, signal } = confinement;
  const onReached = noterOf(context);
  const proxy = await app.egress.open({ folder: app.workDir, own, hosts, list, onRefusal, onReached, signal });
  const registries = settings.network[list].includes(defaults) ? await app.egress.toolVariables() : {};
  const env = { ...registries, ...proxyVariables(egressPort), ...settings.env, ...variables };
  return {
    settings: { egressSocket: proxy.socket, env, root: image, afterCommand: proxy.news },
    refused: proxy.refused,
    close: proxy.close,
  };
}

/** A receipt names at most this many hosts. */
const maxReached = 200;

/** Returns what writes each host into the log to which commands connect for the first time. */
function noterOf({ reached, note, repository }: Pick<SetupContext, 'note' | 'reached' | 'repository'>) {
  if (reached === undefined) return undefined;
  return (host: string) => {
    if (reached.has(host) || reached.size >= maxReached) return;
    reached.add(host);
    // If this worker has lost the run, its signal says so.
    note('network', `connected to ${host}`, { host, reachedFor: repository.id }).catch(() => {});
  };
}

/** Returns the hosts of one list, with those that `defaults` stands for. */
export async function hostsOf(
  { app, settings }: Pick<SetupContext, 'app' | 'settings'>,
  list: 'setup' | 'agent',
): Promise<string[]> {
  const listed = settings.network[list];
  const hosts = new Set(listed.filter((host) => host !== defaults));
  if (listed.includes(defaults)) for (const host of await app.egress.defaultHosts()) hosts.add(host);
  return [...hosts];
}

/** A folder with the files of a repository, in which commands run. */
export interface WorkPlace {
  work: string;
  confinement: Confinement;
  /** Further variables, which take precedence. */
  variables?: Record<string, string>;
  /** The git folder that commands see; that of the repository by default. */
  gitDir?: string;
}

/** A machine with its access to the network. */
export interface MachineWithAccess extends Pick<CommandAccess, 'refused' | 'close'> {
  machine: Machine;
}

/** Opens a machine for the commands of the service, with the hosts of one list. */
export async function openMachineWithAccess(
  context: SetupContext,
  list: 'setup' | 'agent',
  { work, confinement, variables, gitDir = context.checkout.gitDir }: WorkPlace,
): Promise<MachineWithAccess> {
  const { settings, refused, close } = await openCommandAccess(context, list, confinement, variables);
  const scratch = { tmp: `${work}.tmp`, home: `${work}.home` };
  try {
    const machine = await confinement.machine({ ...settings, workTree: work, gitDir, scratch });
    return { machine, refused, close: () => machine.close().finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Adds up the refusals of several machines of one run. */
export function addRefused(...lists: RefusedHost[][]): RefusedHost[] {
  const times = new Map<string, number>();
  for (const { host, times: more } of lists.flat()) times.set(host, (times.get(host) ?? 0) + more);
  return [...times].map(([host, sum]) => ({ host, times: sum }));
}

/** Says which hosts were refused, for the end of a log; undefined when there were none. */
export function refusedText(refused: RefusedHost[]): string | undefined {
  if (refused.length === 0) return undefined;
  const each = refused.map(({ host, times }) => `${host}, ${times === 1 ? 'once' : `${times} times`}`);
  return `refused: ${each.join('; ')}`;
}

/** Starts the services of .deckhand.yml on a machine. @throws RunFailed `setup` when one is not up in time */
export async function startAll(
  { settings, isOutputHidden = false, note }: Pick<SetupContext, 'settings' | 'isOutputHidden' | 'note'>,
  machine: () => Promise<Machine>,
  signal: AbortSignal,
): Promise<void> {
  const { services } = settings;
  if (services.length === 0) return;
  const problem = await startServices(await machine(), services, { signal });
  if (problem !== undefined)
    throw commandFailed('setup', {
      ...problem,
      message: isOutputHidden ? problem.message : `${problem.message}. Its output:`,
      isOutputHidden,
    });
  await note('setup', `services are up: ${services.map(({ run }) => run.slice(0, 100)).join('; ')}`);
}

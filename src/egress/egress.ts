import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import * as net from 'node:net';
import { join } from 'node:path';
import { closedExcept } from '../host/closed-address.ts';
import type { Proxies } from '../host/proxies.ts';
import { inTime, type LookUp, resolveHost } from '../host/resolve.ts';
import { type Connect, dial, type Gate, openGate } from './dial.ts';
import { hostMatcher, type Target } from './host-names.ts';
import { type ProxyServer, proxyServer } from './proxy-server.ts';
import { type Refusal, refusalLog } from './refusals.ts';
import { type ToolsConfiguration, toolsConfiguration } from './tools/tools-configuration.ts';

/** What Linux accepts as the path of a unix socket, without the byte that ends it. */
const maxPathBytes = 107;

/**
 * Listens on a new socket that only its owner can connect to. The signal closes it, with all connections.
 * @throws RangeError when the path is too long
 */
async function listen(
  { server, end }: ProxyServer,
  { folder, own, signal }: Pick<EgressOptions, 'folder' | 'own' | 'signal'>,
): Promise<{ socket: string; close(): Promise<void> }> {
  signal.throwIfAborted();
  const home = await mkdtemp(join(folder, 'egress-'));
  const socket = join(home, 'socket');
  let closing: Promise<void> | undefined;
  const closeOnce = async () => {
    signal.removeEventListener('abort', closeUnasked);
    const closed = server.listening ? once(server.close(), 'close') : undefined;
    end();
    await closed;
    await rm(home, { recursive: true, force: true });
  };
  const close = () => {
    closing ??= closeOnce();
    return closing;
  };
  const closeUnasked = () => void close().catch(() => {});
  signal.addEventListener('abort', closeUnasked, { once: true });
  try {
    if (Buffer.byteLength(socket) > maxPathBytes)
      throw new RangeError(`${socket} is too long for a socket: at most ${maxPathBytes} bytes are possible`);
    await once(server.listen(socket), 'listening');
    await chmod(socket, 0o600);
    await own?.(socket);
    // The run's user can reach the socket in this folder, but cannot list the folder.
    await chmod(home, 0o711);
    signal.throwIfAborted();
  } catch (error) {
    await close();
    throw error;
  }
  return { socket, close };
}

/** Look-ups of one run at the same time. Name servers that do not answer occupy these only. */
const maxOfRun = 4;

/** How many names of a run may wait. Further ones fail at once. */
const maxWaiting = 64;

/** How long an answer is cached, and for how many names of a run. */
const [keptMs, maxKept] = [60_000, 256];

/**
 * Returns the look-up of one run. It asks once for each name, so that simultaneous connections to a host share an
 * answer. Failures are not kept.
 */
export function lookUpOnce(ask: LookUp): LookUp {
  const turn = turns(maxOfRun);
  const kept = new Map<string, { until: number; answer: Promise<LookupAddress[]> }>();
  let waiting = 0;
  return async (host) => {
    const known = kept.get(host);
    if (known !== undefined && known.until > performance.now()) return inTime(known.answer);
    if (waiting === maxWaiting) throw Object.assign(new Error('too many look-ups'), { code: 'EBUSY' });
    waiting += 1;
    const answer = turn(() => ask(host)).finally(() => {
      waiting -= 1;
    });
    answer.catch(() => kept.delete(host));
    const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(host, { until: performance.now() + keptMs, answer });
    return inTime(answer);
  };
}

/** Returns a function that runs tasks, at most `max` at the same time and the others in their order. */
function turns(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running === max) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

export interface EgressOptions {
  /**
   * Where the folder of the socket is created. Its path must be short, because that of a socket has at most 107 bytes.
   */
  folder: string;
  /** Gives a file to the user of the run (`Confinement.own`), the only one who may connect. */
  own?: ((path: string) => Promise<void>) | undefined;
  /** Allowed names, `registry.example.org` or `*.example.org`. Empty: everything is refused. */
  hosts: string[];
  /** The list of `.deckhand.yml` that the hosts are from. Refusals name it. */
  list: 'setup' | 'agent';
  /** Called for a host's first, 10th, 100th, … refusal. */
  onRefusal?(refusal: Refusal & { times: number }): void;
  /** Called for each connection to an allowed host. */
  onReached?: ((host: string) => void) | undefined;
  /** Closes the proxy. */
  signal: AbortSignal;
}

/** The proxy of one run: the only way out of its sandboxes. */
export interface Egress {
  socket: string;
  /** Refused hosts in the order of their first refusal; after 100 of them, the others as one entry. */
  refused(): { host: string; times: number }[];
  /** Returns lines about the refusals since the last call, for the result of a command; undefined if there were none. */
  news(): string | undefined;
  close(): Promise<void>;
}

/** Returns what prevents a connection to a host. Hosts behind a company's proxy are tried, as it may refuse them. */
async function problemWith(gate: Gate, target: Target, connect: Connect): Promise<string | undefined> {
  const verdict = await gate.admit(target);
  if ('says' in verdict) return verdict.says;
  if ('addresses' in verdict) return undefined;
  const tried = await dial(connect, target, verdict, new net.Socket());
  if ('says' in tried) return tried.says;
  tried.destroy();
  return undefined;
}

/** How runs reach the network. */
export interface EgressDoor {
  /** Opens the proxy of a run. @throws RangeError for a malformed host or a path that is too long */
  open(options: EgressOptions): Promise<Egress>;
  /** The hosts that `defaults` stands for: the registries of this machine's tools, and `EGRESS_DEFAULT_HOSTS`. */
  defaultHosts(): Promise<string[]>;
  /** Variables that give the tools in a sandbox the registries and certificates of this machine's tools. */
  toolVariables(): Promise<Record<string, string>>;
  /** Looks up the default hosts, and returns them with what prevents set-up from reaching them. */
  examine(): Promise<{ isOn: boolean; hosts: string[]; problems: string[] }>;
}

/** The operator's settings. */
export interface EgressSettings {
  EGRESS: 'on' | 'off';
  EGRESS_DEFAULT_HOSTS: string[];
  EGRESS_OPEN_ADDRESSES: string[];
  ALLOW_PRIVATE_HOSTS: boolean;
  proxies: Proxies;
}

/** The functions that use the network. Tests replace the name server, and use ports other than 443 and 80. */
export interface Outside {
  lookUp?: LookUp;
  connect?: Connect;
}

/** Creates the proxies of runs. Reads the configuration of tools once, in the environment `toolEnvironment`. */
export function egressDoor(
  settings: EgressSettings,
  toolEnvironment: Record<string, string>,
  { lookUp = resolveHost, connect = net.connect }: Outside = {},
): EgressDoor {
  const isClosed = closedExcept({
    allowPrivateHosts: settings.ALLOW_PRIVATE_HOSTS,
    open: settings.EGRESS_OPEN_ADDRESSES,
  });
  let tools: Promise<ToolsConfiguration> | undefined;
  const readTools = () => {
    tools ??= toolsConfiguration(toolEnvironment);
    return tools;
  };
  const defaultHosts = async () => [...new Set([...(await readTools()).hosts, ...settings.EGRESS_DEFAULT_HOSTS])];
  const isOn = settings.EGRESS === 'on';
  const { ALLOW_PRIVATE_HOSTS: allowPrivateHosts, proxies } = settings;
  const always = { isOn, isClosed, allowPrivateHosts, proxies };
  return {
    open: async ({ folder, own, hosts, list, onRefusal, onReached, signal }) => {
      const log = refusalLog(onRefusal);
      const rules = { ...always, list, isAllowed: hostMatcher(hosts), lookUp: lookUpOnce(lookUp), log, onReached };
      const listening = await listen(proxyServer(openGate(rules), connect), { folder, own, signal });
      return { ...listening, refused: log.all, news: log.news };
    },
    defaultHosts,
    toolVariables: async () => (await readTools()).variables,
    examine: async () => {
      const hosts = isOn ? await defaultHosts() : [];
      const gate = openGate({ ...always, list: 'setup', isAllowed: () => true, lookUp, log: refusalLog() });
      const names = hosts.filter((host) => !host.startsWith('*'));
      const problems = await Promise.all(names.map((host) => problemWith(gate, { host, port: 443 }, connect)));
      return { isOn, hosts, problems: problems.filter((problem) => problem !== undefined) };
    },
  };
}

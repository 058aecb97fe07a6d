import * as net from 'node:net';
import { closedExcept } from '../host/closed-address.ts';
import { type LookUp, resolveHost } from '../host/resolve.ts';
import type { Connect } from './dial.ts';
import { openGate } from './gate.ts';
import { hostMatcher } from './host-names.ts';
import { listen } from './listen.ts';
import { lookUpOnce } from './look-up.ts';
import { proxyServer } from './proxy-server.ts';
import { type Refusal, refusalLog } from './refusals.ts';
import { type ToolsConfiguration, toolsConfiguration } from './tools/tools-configuration.ts';

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
  return {
    open: async ({ folder, own, hosts, list, onRefusal, signal }) => {
      const log = refusalLog(onRefusal);
      const rules = { isOn, list, isAllowed: hostMatcher(hosts), isClosed, lookUp: lookUpOnce(lookUp), log };
      const listening = await listen(proxyServer(openGate(rules), connect), { folder, own, signal });
      return { ...listening, refused: log.all, news: log.news };
    },
    defaultHosts,
    toolVariables: async () => (await readTools()).variables,
    examine: async () => {
      const hosts = isOn ? await defaultHosts() : [];
      const gate = openGate({ isOn, list: 'setup', isAllowed: () => true, isClosed, lookUp, log: refusalLog() });
      const names = hosts.filter((host) => !host.startsWith('*'));
      const verdicts = await Promise.all(names.map((host) => gate.admit({ host, port: 443 })));
      return { isOn, hosts, problems: verdicts.flatMap((verdict) => ('says' in verdict ? [verdict.says] : [])) };
    },
  };
}

import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { isClosedByName } from '../host/closed-address.ts';
import type { NextHop, Proxies } from '../host/proxies.ts';
import type { LookUp } from '../host/resolve.ts';
import { tunnelThrough, whyUnreachable } from '../host/through-proxy.ts';
import { isAddress, isHostName, shown, type Target } from './host-names.ts';
import type { RefusalLog } from './refusals.ts';

/** Where to connect to: one of the addresses of the host, or a company's proxy, which resolves the name. */
export type Way = { addresses: LookupAddress[] } | { proxy: NextHop };

/** Where to connect to, or the status and text of the reply that tells why not. */
export type Verdict = Way | Denial;

export interface Denial {
  status: 403 | 502 | 504;
  says: string;
}

export interface GateRules {
  /** False when the operator has switched the network off. */
  isOn: boolean;
  /** Which list of `.deckhand.yml` a host has to be added to. */
  list: 'setup' | 'agent';
  isAllowed(name: string): boolean;
  isClosed(address: string): boolean;
  /** Whether names of private networks may be asked of a proxy. */
  allowPrivateHosts: boolean;
  proxies: Proxies;
  lookUp: LookUp;
  log: RefusalLog;
  /** Called for each connection to a host. */
  onReached?: ((host: string) => void) | undefined;
}

/** Decides what a run may reach. */
export interface Gate {
  /** Decides about a host. The name is resolved here only: connect to one of these addresses. */
  admit(target: Target): Promise<Verdict>;
  /** Notes a refusal and returns its reply. `why` follows "host example.org is not allowed". */
  refuse(target: Target, why: string): Denial;
  /** Notes that something of a client reaches a host. */
  reached(target: Target): void;
}

export function openGate(rules: GateRules): Gate {
  const refuse = ({ host, port }: Target, why: string): Denial => {
    const says = `host ${shown(host)} is not allowed; ${why}`;
    rules.log.note({ host: shown(host), port, reason: says });
    return { status: 403, says };
  };
  const resolve = async (target: Target): Promise<Verdict> => {
    const proxy = rules.proxies.find({
      protocol: target.port === 80 ? 'http:' : 'https:',
      hostname: target.host,
      port: String(target.port),
    });
    if (proxy !== undefined)
      return rules.allowPrivateHosts || !isClosedByName(target.host)
        ? { proxy }
        : refuse(target, 'it is a private name, which is not asked of a proxy (operators can add it to NO_PROXY)');
    let addresses: LookupAddress[];
    try {
      addresses = await rules.lookUp(target.host);
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      return { status: 502, says: `host ${target.host} could not be resolved (${code})` };
    }
    // One closed address is enough to refuse the host: an attacker's name server can add open addresses to it.
    if (addresses.length === 0 || addresses.some(({ address }) => rules.isClosed(address)))
      return refuse(target, 'it has a private or reserved address (operators can open it with EGRESS_OPEN_ADDRESSES)');
    return { addresses };
  };
  return {
    refuse,
    reached: ({ host }) => rules.onReached?.(host),
    admit: async (target) => {
      const problem = problemOf(target, rules);
      return problem === undefined ? resolve(target) : refuse(target, problem);
    },
  };
}

function problemOf({ host, port }: Target, { isOn, isAllowed, list }: GateRules): string | undefined {
  if (!isOn) return 'the operator has switched the network off (EGRESS=off)';
  if (isAddress(host)) return 'only names can be allowed, not addresses';
  if (!isHostName(host)) return 'it is not a valid host name';
  if (!isAllowed(host)) return `add it to network.${list} in .deckhand.yml`;
  if (port !== 443 && port !== 80) return `only ports 443 and 80 are open, not ${port}`;
  return undefined;
}

export type Connect = (options: TcpNetConnectOpts) => Socket;

/** How long one connection may take to open, over all addresses of the host. */
const connectMs = 15_000;

/** Returns a replacement for the look-up of a name that has been resolved and checked. */
export function pinnedTo(addresses: LookupAddress[]): LookupFunction {
  const [first = { address: '', family: 0 }] = addresses;
  return (_host, { all }, done) => (all ? done(null, addresses) : done(null, first.address, first.family));
}

/** Connects to a host for a client, for at most 15 s. */
export function dial(connect: Connect, target: Target, way: Way, client: Socket): Promise<Socket | Denial> {
  return 'proxy' in way
    ? dialThrough(connect, target, way.proxy, client)
    : dialAddresses(connect, target, way.addresses, client);
}

/** Asks a company's proxy for a tunnel to a host. */
async function dialThrough(connect: Connect, target: Target, proxy: NextHop, client: Socket): Promise<Socket | Denial> {
  const given = new AbortController();
  const abandon = () => given.abort();
  const late = AbortSignal.timeout(connectMs);
  client.once('close', abandon);
  if (client.destroyed) abandon();
  try {
    const socket = await tunnelThrough(proxy, target, { connect, signal: AbortSignal.any([given.signal, late]) });
    // Both directions of a tunnel listen for its end several times.
    socket.setMaxListeners(32).on('error', () => {});
    const end = () => socket.destroy();
    client.once('close', end);
    if (client.destroyed) end();
    socket.once('close', () => client.off('close', end));
    return socket;
  } catch (error) {
    if (late.aborted) return { status: 504, says: `host ${target.host} could not be reached (${slow})` };
    const why = given.signal.aborted ? 'the client disconnected' : whyUnreachable(error);
    return { status: 502, says: `host ${target.host} could not be reached (${why})` };
  } finally {
    client.off('close', abandon);
  }
}

const slow = `no connection within ${connectMs / 1000} s`;

/** Tries the addresses of a host one after another, as Node does for a name. */
function dialAddresses(
  connect: Connect,
  { host, port }: Target,
  addresses: LookupAddress[],
  client: Socket,
): Promise<Socket | Denial> {
  return new Promise((resolve) => {
    const options = { host, port, lookup: pinnedTo(addresses), autoSelectFamily: true };
    const socket = connect({ ...options, allowHalfOpen: true, noDelay: true });
    // Both directions of a tunnel listen for its end several times.
    socket.setMaxListeners(32);
    const fail = (status: Denial['status'], why: string) => {
      socket.destroy();
      resolve({ status, says: `host ${host} could not be reached (${why})` });
    };
    const timer = setTimeout(() => fail(504, slow), connectMs);
    const abandon = () => fail(502, 'the client disconnected');
    client.once('close', abandon);
    if (client.destroyed) abandon();
    socket.once('connect', () => resolve(socket));
    socket.on('error', ({ code = 'connection lost' }: NodeJS.ErrnoException) => fail(502, code));
    // Kept while the tunnel is open, so that the socket is destroyed when the client disconnects.
    socket.once('close', () => client.off('close', abandon));
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer));
  });
}

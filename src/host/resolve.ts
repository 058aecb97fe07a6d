import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Returns all addresses of a name, or the address itself. Rejects with a `code` such as ENOTFOUND. */
export type LookUp = (host: string) => Promise<LookupAddress[]>;

/** How long a look-up may take, whatever the number of name servers. */
const patienceMs = 10_000;

/** The files of the machine, and how long each of its name servers has to answer. It is asked twice. */
interface Places {
  hosts?: string;
  config?: string;
  /** Instead of those in `config`. */
  servers?: string[];
  serverMs?: number;
}

/**
 * Returns a resolver that asks name servers without the threads of Node. `dns.lookup` blocks one of four for up to 20 s
 * if a name server is silent, and files need these threads too. What `dns.lookup` also reads is read here: the file of
 * hosts, and the domains to search. Names that only the system may know (`.local`, RFC 6762, and names of one label that
 * no name server knows) are left to `dns.lookup`, one at a time.
 */
export function openResolver(places: Places = {}): LookUp {
  const { hosts = '/etc/hosts', config = '/etc/resolv.conf', servers, serverMs = 2000 } = places;
  const readHosts = whenChanged(hosts, hostsOf);
  const readDomains = whenChanged(config, (text) => {
    const resolver = new Resolver({ timeout: serverMs, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    return { ...domainsOf(text), resolver };
  });
  let system: Promise<unknown> = Promise.resolve();
  const askSystem = (host: string): Promise<LookupAddress[]> => {
    const answer = system.then(() => lookup(host, { all: true }));
    system = answer.catch(() => {});
    return answer;
  };
  return async (host) => {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const name = host.replace(/\.$/, '').toLowerCase();
    const known = (await readHosts()).get(name) ?? (/(^|\.)localhost$/.test(name) ? loopback : undefined);
    if (known !== undefined) return known;
    if (name.endsWith('.local')) return inTime(askSystem(host));
    const { domains, dots, resolver } = await readDomains();
    const found = inTime(firstFound(resolver, namesFor(host, domains, dots)));
    if (name.includes('.')) return found;
    return found.catch((error) => (error.code === 'ENOTFOUND' ? inTime(askSystem(host)) : Promise.reject(error)));
  };
}

/** The resolver of this process. */
export const resolveHost: LookUp = openResolver();

const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Returns the names to ask for in turn. Unlike getaddrinfo, a name with a dot is asked for as it is first, because most
 * are complete.
 */
function namesFor(host: string, domains: string[], dots: number): string[] {
  if (host.endsWith('.')) return [host];
  const completed = domains.map((domain) => `${host}.${domain}`);
  const count = host.split('.').length - 1;
  if (count === 0) return [...completed, host];
  return count < dots ? [host, ...completed] : [host];
}

async function firstFound(resolver: Resolver, names: string[]): Promise<LookupAddress[]> {
  let failure: unknown;
  for (const name of names) {
    try {
      return await addressesOf(resolver, name);
    } catch (error) {
      failure = error;
      if ((error as NodeJS.ErrnoException).code !== 'ENOTFOUND') break;
    }
  }
  throw failure;
}

async function addressesOf(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const of = (answer: PromiseSettledResult<string[]>, family: 4 | 6) =>
    answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
  const found = hasIPv4() ? [...of(v4, 4), ...of(v6, 6)] : [...of(v6, 6), ...of(v4, 4)];
  if (found.length > 0) return found;
  const codes = [v4, v6].map((answer) => (answer.status === 'rejected' ? String(answer.reason.code) : 'ENODATA'));
  const missing = ['ENOTFOUND', 'ENODATA'];
  const code = codes.find((each) => !missing.includes(each)) ?? 'ENOTFOUND';
  throw Object.assign(new Error(`${code} ${name}`), { code });
}

/** Callers that connect to one address take the first, so it must be of a family that this machine has. */
function hasIPv4(): boolean {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.some(({ family, internal }) => family === 'IPv4' && !internal) || all.every(({ internal }) => internal);
}

function hostsOf(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
  }
  return hosts;
}

/** Reads the domains to search and `ndots`; see resolv.conf(5). */
function domainsOf(text: string): { domains: string[]; dots: number } {
  let domains: string[] = [];
  let dots = 1;
  for (const line of text.split('\n')) {
    const [keyword = '', ...words] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // A single dot is how systemd-resolved says that nothing is searched.
    if (keyword === 'search' || keyword === 'domain') domains = words.map((word) => word.replace(/\.$/, ''));
    if (keyword === 'options') for (const word of words) dots = Number(/^ndots:(\d+)$/.exec(word)?.[1] ?? dots);
  }
  return { domains: domains.filter((domain) => domain !== '').slice(0, 6), dots };
}

/** Returns a function that reads a file again when it has changed. A missing file counts as empty. */
function whenChanged<T>(path: string, read: (text: string) => T): () => Promise<T> {
  let last: { at: number; value: T } | undefined;
  return async () => {
    const at = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (last?.at === at) return last.value;
    const text = await readFile(path, 'utf8').catch(() => '');
    last = { at, value: read(text) };
    return last.value;
  };
}

/** Rejects with the code ETIMEDOUT if an answer takes longer than 10 s. */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })),
      patienceMs,
    ).unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

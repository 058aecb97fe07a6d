import { isIP } from 'node:net';
import { z } from 'zod';
import { parseWithin } from '../../domain/json/json-cost.ts';
import { isClosedByName } from '../../host/closed-address.ts';
import type { NextHop, Proxies } from '../../host/proxies.ts';
import { resolveHost } from '../../host/resolve.ts';
import { imageFailed, quoted } from '../reference.ts';

/** Returns whether a URL names this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

/**
 * Parses an address that a registry names. It must use https, except on this machine itself, which only the operator's
 * settings can open. Whether the host's address is closed is checked when it is contacted.
 * @throws RunFailed when the address must not be contacted
 */
export function addressFrom(text: string, base: URL | undefined, what: string): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))) return withoutUser(url);
  throw imageFailed(`${what} leads to ${quoted(url?.origin ?? text)}, which is not an https:// address`);
}

/** A user name in an address would be sent as credentials. */
function withoutUser(url: URL): URL {
  url.username = '';
  url.password = '';
  return url;
}

/** Which registries may be contacted. */
export interface RegistryRules {
  isClosed(address: string): boolean;
  allowPrivateHosts: boolean;
  proxies: Proxies;
}

/**
 * Returns a function that resolves the host of a URL to the one address that may be contacted. One closed address among
 * several is enough to refuse a host, because its owner could mix it with others. A host behind a proxy is resolved by
 * the proxy, so its name is checked instead.
 */
export function checkedRegistryAddress({ isClosed, allowPrivateHosts, proxies }: RegistryRules) {
  return async (url: URL): Promise<{ address: string; family: number } | { proxy: NextHop }> => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const proxy = proxies.find(url);
    if (proxy !== undefined) {
      if (allowPrivateHosts || (isIP(host) === 0 ? !isClosedByName(host) : !isClosed(host))) return { proxy };
      throw imageFailed(
        `${host} is a private name or address, which is not asked of a proxy; an operator can add it to NO_PROXY`,
      );
    }
    const found = await resolveHost(host).catch((error) => {
      throw new Error(`the host name ${host} could not be resolved (${error.code})`);
    });
    const [first] = found;
    if (first === undefined || found.some(({ address }) => isClosed(address)))
      throw imageFailed(`${host} has a private or reserved address, which the operator has not opened`);
    return first;
  };
}

/** Reads a short answer into memory. @throws RunFailed when it is longer than `maxBytes` */
export async function readWithin(response: Response, maxBytes: number, who: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop also ends the download.
    if (length > maxBytes) throw imageFailed(`the answer of ${who} is larger than ${maxBytes / 1000} kB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Credentials for an image, and the hosts that may get them. */
export interface Credentials {
  /** Changes with the credentials, and reveals nothing about them. */
  version: string;
  /**
   * Returns them for a host, which includes the port unless that is 443.
   * @throws RunFailed when they must not be sent to this host
   */
  openFor(host: string): { username: string; password: string };
}

/** What is needed to answer a registry's demand for authorization. */
export interface Demand {
  /** The `WWW-Authenticate` header. */
  challenge: string;
  registry: URL;
  repository: string;
  credentials: Credentials | undefined;
  /** Sends one request and follows no redirect. */
  send: typeof fetch;
  signal: AbortSignal;
}

const tokenSeconds = 30;
const [maxTokenBytes, maxTokenValues] = [200_000, 1000];
const answer = z.object({ token: z.string().min(1).optional(), access_token: z.string().min(1).optional() });

/**
 * Returns the `Authorization` header that a registry demands, or undefined when there are no credentials for it. A
 * registry names its token service itself, so whether that may get the credentials is asked for its host, too.
 */
export async function authorize(demand: Demand): Promise<string | undefined> {
  const { challenge, credentials, registry } = demand;
  if (/^\s*bearer\s/i.test(challenge)) return `Bearer ${await fetchToken(demand)}`;
  return /^\s*basic\b/i.test(challenge) && credentials !== undefined ? basic(credentials, registry) : undefined;
}

async function fetchToken({ challenge, registry, repository, credentials, send, signal }: Demand): Promise<string> {
  const { realm = '', service } = parametersOf(challenge);
  const url = addressFrom(realm, undefined, `the registry ${registry.host} asks for a token and`);
  url.searchParams.set('scope', `repository:${repository}:pull`);
  if (service !== undefined) url.searchParams.set('service', service);
  const headers: Record<string, string> = credentials === undefined ? {} : { authorization: basic(credentials, url) };
  const response = await send(url, {
    headers: { accept: 'application/json', ...headers },
    signal: AbortSignal.any([signal, AbortSignal.timeout(tokenSeconds * 1000)]),
  });
  const who = `the token service ${url.host} of the registry ${registry.host}`;
  const bytes = await readWithin(response, maxTokenBytes, who);
  const found = response.ok ? answer.safeParse(parsed(bytes)).data : undefined;
  const token = found?.token ?? found?.access_token;
  // A token is sent in a header, so it must not contain line breaks.
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token;
  const hint = credentials === undefined ? 'a private image needs imageAuth' : 'check the secrets of imageAuth';
  throw imageFailed(`${who} gave no token (HTTP ${response.status}); ${hint}`);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseWithin(new TextDecoder().decode(bytes), maxTokenValues);
  } catch {
    return undefined;
  }
}

function basic(credentials: Credentials, { host }: URL): string {
  const { username, password } = credentials.openFor(host);
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Parses `Bearer realm="https://…",service="…"`. */
function parametersOf(challenge: string): Record<string, string> {
  const pairs = [...quoteless(challenge).matchAll(/([a-z_]+)=(?:"([^"]*)"|([^\s,"]+))/gi)];
  return Object.fromEntries(pairs.map(([, name = '', inQuotes, bare]) => [name.toLowerCase(), inQuotes ?? bare ?? '']));
}

const maxChallenge = 4000;
const quoteless = (challenge: string) => challenge.slice(0, maxChallenge).replaceAll('\\"', '');

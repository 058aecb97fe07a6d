import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { addressesIn, isAddressRange } from './closed-address.ts';

/** The proxy through which a host is reached. It can be sent to another process, which needs the credentials too. */
export interface NextHop {
  /** The variable that names the proxy, such as `HTTPS_PROXY`. People see it instead of the address. */
  setting: string;
  /** The address of the proxy, with its credentials. */
  href: string;
}

type Environment = Record<string, string | undefined>;

/**
 * The settings of a company's proxy, by curl's rules: names in lower case take precedence, and `NO_PROXY` lists names
 * (each with all names below it), addresses, ranges of addresses, and `*`. This machine itself is never reached through
 * a proxy.
 */
export class Proxies {
  // Private fields, so that no log can print the credentials.
  readonly #byProtocol: Map<string, NextHop>;
  readonly #isExempt: (host: string, port: string) => boolean;
  readonly #exceptions: string;

  constructor(byProtocol: Map<string, NextHop>, exceptions: string) {
    this.#byProtocol = byProtocol;
    this.#exceptions = exceptions;
    this.#isExempt = exemption(exceptions);
  }

  /** Returns the proxy through which a URL is requested, or undefined when its host is reached directly. */
  find({ protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>): NextHop | undefined {
    const proxy = this.#byProtocol.get(protocol);
    if (proxy === undefined) return undefined;
    const host = bare(hostname);
    return isThisMachine(host) || this.#isExempt(host, port || usualPorts[protocol] || '') ? undefined : proxy;
  }

  /** Returns the credentials in every form in which they could be shown. */
  secrets(): string[] {
    return [...this.#byProtocol.values()].flatMap((proxy) => {
      const { password } = new URL(proxy.href);
      const authorization = basicOf(proxy);
      return password === '' || authorization === undefined
        ? []
        : [password, decodeURIComponent(password), authorization.slice('Basic '.length)];
    });
  }

  /** Describes the settings without credentials; undefined when no proxy is set. */
  describe(): string | undefined {
    if (this.#byProtocol.size === 0) return undefined;
    const parts = [...this.#byProtocol.values()].map((proxy) => `${proxy.setting} ${shownAddress(proxy)}`);
    return [...parts, ...(this.#exceptions === '' ? [] : [`NO_PROXY ${this.#exceptions}`])].join(', ');
  }
}

/** Reaches every host directly. */
export const noProxies = new Proxies(new Map(), '');

const usualPorts: Record<string, string> = { 'https:': '443', 'http:': '80' };

/** Returns the address of a proxy without its credentials, for the operator. */
function shownAddress({ href }: NextHop): string {
  const { protocol, host, username } = new URL(href);
  return `${protocol}//${host}${username === '' ? '' : ' (with credentials)'}`;
}

/** Returns the `Proxy-Authorization` header for a proxy with credentials. */
export function basicOf({ href }: NextHop): string | undefined {
  const { username, password } = new URL(href);
  if (username === '' && password === '') return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

const isLoopback = addressesIn(['127.0.0.0/8', '::1/128']);

function isThisMachine(host: string): boolean {
  return isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : isLoopback(host);
}

function exemption(list: string): (host: string, port: string) => boolean {
  const entries = list.toLowerCase().split(/[\s,]+/);
  const isInRange = addressesIn(entries.filter(isAddressRange));
  const names = entries.map((entry) => {
    const [, name = entry, port] = /^([^:]*|\[.*\]):(\d+)$/.exec(entry) ?? [];
    return { name: bare(name.replace(/^\*?\./, '')), port };
  });
  return (host, port) =>
    entries.includes('*') ||
    (isIP(host) !== 0 && isInRange(host)) ||
    names.some(
      (each) =>
        each.name !== '' &&
        (each.port === undefined || each.port === port) &&
        (host === each.name || (isIP(host) === 0 && host.endsWith(`.${each.name}`))),
    );
}

const example = 'http://proxy.example.org:3128';

/** Reads the settings of proxies. There is one line per problem, and none contains a value. */
export function readProxies(env: Environment): { proxies: Proxies; problems: string[] } {
  const found = new Map<string, NextHop>();
  const problems: string[] = [];
  for (const [protocol, name] of Object.entries({ 'https:': 'HTTPS_PROXY', 'http:': 'HTTP_PROXY' })) {
    const setting = [name.toLowerCase(), name].find((each) => (env[each] ?? '') !== '');
    if (setting === undefined) continue;
    const problem = addressProblem(env[setting] ?? '');
    if (problem === undefined) found.set(protocol, { setting, href: new URL(env[setting] ?? '').href });
    else problems.push(`${setting}: ${problem}`);
  }
  return { proxies: new Proxies(found, env.no_proxy || env.NO_PROXY || ''), problems };
}

function addressProblem(text: string): string | undefined {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return `must be the address of an HTTP proxy such as ${example}, with http:// or https://`;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return `must end with the port, such as ${example}; percent-encode special characters of the user and the password`;
  return isDecodable(url.username + url.password)
    ? undefined
    : 'must have its user and password percent-encoded, such as %25 for %';
}

function isDecodable(text: string): boolean {
  try {
    return !/[\r\n\0]/.test(decodeURIComponent(text));
  } catch {
    return false;
  }
}

/** Returns what is wrong with the file of further certificates. Node itself only warns, and goes on without them. */
export function certificatesProblem({ NODE_EXTRA_CA_CERTS: path = '' }: Environment): string | undefined {
  if (path === '') return undefined;
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch {
    return 'NODE_EXTRA_CA_CERTS: the file cannot be read; give the path of a file with certificates in PEM format';
  }
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return certificates.length > 0 && certificates.every(isCertificate)
    ? undefined
    : 'NODE_EXTRA_CA_CERTS: the file must contain certificates in PEM format (-----BEGIN CERTIFICATE-----)';
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

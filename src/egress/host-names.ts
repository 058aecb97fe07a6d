import { isIP } from 'node:net';

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
/** The last label is not a number, because the system's resolver takes `127.1` and `0x7f.1` for addresses. */
const hostName = new RegExp(`^(?:${label}\\.)*(?!(?:[0-9]+|0x[0-9a-f]*)$)${label}$`);
const numbered = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/** Returns whether a string is a host name in lower case, in ASCII, without a trailing dot. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && hostName.test(text);
}

/** Returns whether a host is an address in any notation that a resolver understands. */
export function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || host.startsWith('[') || numbered.test(host);
}

/** Returns what is wrong with an entry of a list of allowed hosts, worded to follow it in a sentence. */
export function hostPatternProblem(pattern: string): string | undefined {
  const name = pattern.replace(/^\*\./, '');
  if (isHostName(name)) return undefined;
  if (isAddress(name)) return 'must be a name, because addresses cannot be allowed';
  return 'must be a host name such as registry.example.org or *.example.org, in lower case, without protocol, port or path';
}

/**
 * Returns a function that tells whether a name is allowed. `*.example.org` allows all names below example.org, but not
 * example.org itself.
 * @throws RangeError for a malformed entry
 */
export function hostMatcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set<string>();
  const parents = new Set<string>();
  for (const pattern of patterns) {
    const problem = hostPatternProblem(pattern);
    if (problem !== undefined) throw new RangeError(`${pattern} ${problem}`);
    if (pattern.startsWith('*.')) parents.add(pattern.slice(2));
    else names.add(pattern);
  }
  return (name) => {
    if (names.has(name)) return true;
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1))
      if (parents.has(name.slice(dot + 1))) return true;
    return false;
  };
}

/** What a client of the proxy wants to reach. The host is in lower case and not checked yet. */
export interface Target {
  host: string;
  port: number;
}

/** Longer hosts are cut where they are shown. No name in the DNS has more characters. */
const maxShown = 253;

/** Reads the target of `CONNECT host:port`. Returns undefined when it has another form. */
export function connectTarget(authority: string): Target | undefined {
  return readAuthority(authority);
}

/** Reads an absolute request target, `http://host/path`. Returns undefined when it has another form. */
export function urlTarget(url: string): (Target & { path: string }) | undefined {
  const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)([/?][\x21\x22\x24-\x7e]*)?$/i.exec(url) ?? [];
  const target = readAuthority(authority, 80);
  return target && { ...target, path: path.startsWith('/') ? path : `/${path}` };
}

/** User names are refused, because `allowed.example.org@example.com` would show another host than it reaches. */
function readAuthority(text: string, usualPort?: number): Target | undefined {
  const [, host = '', digits] = /^(\[[^\]]*\]|[^:@[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const port = digits === undefined ? usualPort : Number(digits);
  if (host === '' || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.toLowerCase(), port };
}

/** Returns a host as it can be shown in a log, a reply and a header: printable ASCII, not too long. */
export function shown(host: string): string {
  const text = host.replace(/[^\x21-\x7e]/g, '?');
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

import { trimEndOf } from '../domain/text/sanitize.ts';
import { isClosedAddress, isClosedByName, isClosedHost } from '../host/closed-address.ts';
import type { NextHop, Proxies } from '../host/proxies.ts';
import { resolveHost } from '../host/resolve.ts';
import { GitFailed, type Remote } from './engine.ts';

/** The hosts that the operator's settings allow. */
export interface HostRules {
  githubOrigin: string;
  allowPrivateHosts: boolean;
  proxies: Proxies;
}

/**
 * Returns what is wrong with a repository's address, worded to follow its name in a sentence, or undefined when it is
 * allowed.
 */
export function urlProblem(text: string, rules: HostRules): string | undefined {
  if (!isHttpAddress(text)) return 'must be an https address such as https://github.com/owner/name';
  const url = new URL(text);
  const problem = extrasProblem(url);
  if (problem !== undefined) return problem;
  if (url.pathname.replaceAll('/', '') === '') return 'must name a repository';
  if (url.pathname.includes('//')) return 'must not have empty parts in its path';
  // GitHub would decode it, and the name of a repository would no longer be recognized.
  if (url.origin === rules.githubOrigin && url.pathname.includes('%')) return 'must not contain % in its path';
  return hostProblem(url, rules);
}

/** Returns what is wrong with the address of a server other than a repository, by the same rules. */
export function serverUrlProblem(text: string, rules: HostRules): string | undefined {
  if (!isHttpAddress(text)) return 'must be an https address such as https://example.com/mcp';
  const url = new URL(text);
  return extrasProblem(url) ?? hostProblem(url, rules);
}

/** The URL parser silently corrects blanks, backslashes and missing slashes, which git would interpret differently. */
function isHttpAddress(text: string): boolean {
  return /^https?:\/\/[^\s\\\p{Cc}]+$/iu.test(text) && URL.canParse(text);
}

function extrasProblem(url: URL): string | undefined {
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  return url.search !== '' || url.hash !== '' ? 'must not contain a query or a fragment' : undefined;
}

/** Returns why a host must not be contacted, judging only by the URL. The host's address is checked by `openAddress`. */
export function hostProblem(url: URL, rules: HostRules): string | undefined {
  if (url.origin === rules.githubOrigin) return undefined;
  const isClosed = isClosedHost(hostOf(url));
  if (url.protocol === 'http:' && rules.allowPrivateHosts && isClosed) return undefined;
  if (url.protocol !== 'https:') return 'must begin with https://';
  if (isClosed && !rules.allowPrivateHosts) return 'must not name a private, loopback, link-local or metadata address';
  return undefined;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** A host's address is blocked. The run fails with the category `repository`. */
export class HostClosed extends Error {
  constructor(host: string, why = 'has a private address') {
    super(`${host} ${why}`);
    this.name = 'HostClosed';
  }
}

/**
 * Resolves the host of a repository and checks its address. Pass the result to the engine, because resolving the name a
 * second time could return another address. `resolved` is undefined where every address is allowed: for GitHub, if
 * private hosts are allowed, or behind a proxy.
 * @throws HostClosed; GitFailed when the name cannot be resolved
 */
export async function resolveOnce(text: string, rules: HostRules): Promise<Pick<Remote, 'resolved' | 'proxy'>> {
  const url = new URL(text);
  const open = await openAddress(url, rules);
  if (open === undefined || 'proxy' in open) return { resolved: undefined, proxy: open?.proxy };
  const address = open.family === 6 ? `[${open.address}]` : open.address;
  return {
    resolved: `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}:${address}`,
    proxy: undefined,
  };
}

/**
 * Resolves the host of a URL once and returns the address to connect to; undefined where every address is allowed. A
 * host behind a proxy is resolved by the proxy, so its name is checked instead.
 * @throws HostClosed; GitFailed when the name cannot be resolved
 */
export async function openAddress(
  url: URL,
  rules: HostRules,
): Promise<{ address: string; family: number } | { proxy: NextHop } | undefined> {
  const isOpen = url.origin === rules.githubOrigin || rules.allowPrivateHosts;
  const host = hostOf(url);
  const proxy = rules.proxies.find(url);
  if (proxy !== undefined) {
    if (!isOpen && isClosedByName(host)) throw new HostClosed(host, closedName);
    return { proxy };
  }
  if (isOpen) return undefined;
  const found = await resolveHost(host).catch((error) => {
    throw new GitFailed('unreachable', `git: the host name ${host} could not be resolved: ${error.code}`);
  });
  const [first] = found;
  if (first === undefined || found.some(({ address }) => isClosedAddress(address))) throw new HostClosed(host);
  return first;
}

/** Why a name is refused behind a proxy. Follows the name in a sentence. */
const closedName =
  'is a private name, which is not asked of a proxy; an operator can add it to NO_PROXY, and then its address is checked';

/** Normalizes a repository's address: no trailing slash, no `.git`, host in lower case. */
export function normalUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${trimEndOf(url.pathname, '/').replace(/\.git$/, '')}`;
}

/**
 * Returns whether two normal addresses lead to one repository. GitHub does not distinguish upper and lower case. Other hosts
 * may.
 */
export function isSameAddress(a: string, b: string, githubUrl: string): boolean {
  const areOnGitHub = [a, b].every((each) => githubName(each, githubUrl) !== undefined);
  return a === b || (areOnGitHub && a.toLowerCase() === b.toLowerCase());
}

/** How GitHub names a repository. Octokit takes objects of a type as parameters, but not those of an interface. */
export type RepoName = { owner: string; repo: string };

/**
 * Returns the owner and name of a repository on this service's GitHub, or undefined for any other address. `githubUrl` is a
 * normal address, and may have a path, in any letter case.
 */
export function githubName(text: string, githubUrl: string): RepoName | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname } = new URL(text);
  const address = `${origin}${pathname}`;
  if (!address.toLowerCase().startsWith(`${githubUrl.toLowerCase()}/`)) return undefined;
  const match = /^\/([A-Z0-9_-]+)\/([A-Z0-9._-]+?)(?:\.git)?\/?$/i.exec(address.slice(githubUrl.length));
  if (match === null) return undefined;
  const [, owner = '', repo = ''] = match;
  return { owner, repo };
}

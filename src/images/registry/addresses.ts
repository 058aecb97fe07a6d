import { isIP } from 'node:net';
import { imageFailed, quoted } from '../failure.ts';

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

import { isIP } from 'node:net';
import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';

/**
 * The prefix length by which IPv6 addresses are grouped. Providers give each customer a network of at least this size.
 */
const ipv6Subnet = 64;

/** Returns the network that counts as one caller. */
export function networkOf(address: string | undefined): string {
  return address === undefined || isIP(address) === 0 ? 'unknown' : ipKeyGenerator(address, ipv6Subnet);
}

/**
 * Returns the caller's address for counting. Behind proxies it comes from `X-Forwarded-For`, as configured by
 * `TRUST_PROXY`.
 */
export function addressOf(req: Request): string {
  // The header may contain anything, such as a host name.
  return networkOf(isIP(req.ip ?? '') === 0 ? req.socket.remoteAddress : req.ip);
}

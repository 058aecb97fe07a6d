import { isIP } from 'node:net';
import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';

/** Providers give each IPv6 customer at least a network of this size, so all of it counts as one address. */
const ipv6Subnet = 64;

/** The network that limits count as one caller. */
export function networkOf(address: string | undefined): string {
  return address === undefined || isIP(address) === 0 ? 'unknown' : ipKeyGenerator(address, ipv6Subnet);
}

/** The caller's address as limits count it. Behind proxies it comes from `X-Forwarded-For`, as `TRUST_PROXY` says. */
export function addressOf(req: Request): string {
  // The header may contain anything, such as a host name.
  return networkOf(isIP(req.ip ?? '') === 0 ? req.socket.remoteAddress : req.ip);
}

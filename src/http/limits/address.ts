import { isIP } from 'node:net';
import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';

/** One IPv6 customer has at least this network to choose addresses from. */
const ipv6Subnet = 64;

/** The network that stands for one caller. */
export function networkOf(address: string | undefined): string {
  return address === undefined || isIP(address) === 0 ? 'unknown' : ipKeyGenerator(address, ipv6Subnet);
}

/** The caller's address as limits count it. Behind proxies it comes from `X-Forwarded-For`, as `TRUST_PROXY` says. */
export function addressOf(req: Request): string {
  // The first of the trusted proxies may have written anything there.
  return networkOf(isIP(req.ip ?? '') === 0 ? req.socket.remoteAddress : req.ip);
}

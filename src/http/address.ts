import { isIP } from 'node:net';
import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';

/** One IPv6 customer has at least this network to choose addresses from. */
const ipv6Subnet = 64;

/** The caller's address as limits count it. Behind proxies it comes from `X-Forwarded-For`, as `TRUST_PROXY` says. */
export function addressOf(req: Request): string {
  // The first of the trusted proxies may have written anything there.
  const address = [req.ip, req.socket.remoteAddress].find((each) => each !== undefined && isIP(each) !== 0);
  return address === undefined ? 'unknown' : ipKeyGenerator(address, ipv6Subnet);
}

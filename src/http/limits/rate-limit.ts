import { isIP } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { type ClientRateLimitInfo, ipKeyGenerator, rateLimit, type Store } from 'express-rate-limit';
import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';

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

/** Maximum number of keys. They take about 2 MB. */
const maxKeys = 10_000;

/**
 * Counts requests in windows of one length. The store of express-rate-limit keeps every key for up to two windows, so a
 * client with many addresses could exhaust the memory. This store evicts the oldest window when it is full.
 */
export function boundedStore(): Store {
  const counts = new Map<string, ClientRateLimitInfo>();
  let windowMs = 60_000;
  return {
    localKeys: true,
    init: (options) => {
      windowMs = options.windowMs;
    },
    increment: (key) => {
      const now = Date.now();
      let count = counts.get(key);
      if (count === undefined || isOver(count, now)) {
        counts.delete(key);
        makeRoom(counts, now);
        count = { totalHits: 0, resetTime: new Date(now + windowMs) };
        counts.set(key, count);
      }
      count.totalHits += 1;
      return count;
    },
    decrement: (key) => {
      const count = counts.get(key);
      if (count !== undefined && count.totalHits > 0) count.totalHits -= 1;
    },
    resetKey: (key) => {
      counts.delete(key);
    },
  };
}

function isOver({ resetTime }: ClientRateLimitInfo, now: number): boolean {
  return (resetTime?.getTime() ?? 0) <= now;
}

/**
 * Evicts expired windows, or the oldest one. All windows have the same length, so the map's order is the order in which
 * they end.
 */
function makeRoom(counts: Map<string, ClientRateLimitInfo>, now: number): void {
  for (const [key, count] of counts) {
    if (counts.size < maxKeys && !isOver(count, now)) return;
    counts.delete(key);
  }
}

/** The additional, stricter limit that a request counts against. */
export type Costs = 'model' | 'start';

const windowMs = 60_000;

type KeyOf = (req: Request, res: Response) => string;

/** Limits requests per user and minute; one may count several times. Each process counts separately. @throws AppError 429 */
export function userLimits(
  config: App['config'],
): (req: Request, res: Response, weight: { costs: Costs | undefined; times: number }) => Promise<void> {
  const keyOf: KeyOf = (_req, res) => String(res.locals.userId);
  // The stricter limit comes last, so that the reply has its RateLimit headers.
  const all = limiter('requests', config.RATE_LIMIT_REQUESTS, keyOf);
  const by = {
    model: limiter('model-backed requests', config.RATE_LIMIT_MODEL, keyOf),
    start: limiter('starts', config.RATE_LIMIT_STARTS, keyOf),
  };
  return async (req, res, { costs, times }) => {
    for (let i = 0; i < times; i++) await pass(all, req, res);
    if (costs !== undefined) await pass(by[costs], req, res);
  };
}

/**
 * Limits requests per address and minute for callers without a valid token. Passes an AppError 429 to the next handler.
 */
export function anonymousLimit(config: App['config']): RequestHandler {
  const limit = limiter('requests without a valid token', config.RATE_LIMIT_ANONYMOUS, addressOf);
  return limit ?? ((_req, _res, next) => next());
}

function limiter(what: string, limit: number, keyOf: KeyOf): RequestHandler | undefined {
  if (limit === 0) return undefined;
  return rateLimit({
    windowMs,
    limit,
    store: boundedStore(),
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    keyGenerator: keyOf,
    // Turns off a check of express-rate-limit: it searches the source of `keyOf` for ipKeyGenerator, which is called
    // indirectly through `networkOf`.
    validate: { keyGeneratorIpFallback: false },
    handler: (_req, _res, next) =>
      next(
        new AppError(429, `At most ${limit} ${what} a minute are allowed; the Retry-After header says when to retry`),
      ),
  });
}

function pass(limit: RequestHandler | undefined, req: Request, res: Response): Promise<void> {
  if (limit === undefined) return Promise.resolve();
  return new Promise((resolve, reject) => limit(req, res, (error?: unknown) => (error ? reject(error) : resolve())));
}

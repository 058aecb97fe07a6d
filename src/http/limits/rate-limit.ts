import type { Request, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';
import { addressOf } from './address.ts';
import { boundedStore } from './bounded-store.ts';

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

import type { Request, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { App } from '../app.ts';
import { AppError } from '../errors.ts';

/** What a request costs besides being a request. */
export type Costs = 'model' | 'start';

const windowMs = 60_000;

/** Limits per token and minute (decisions, section 11); each process counts for itself. @throws AppError 429 */
export function rateLimits(
  config: App['config'],
): (req: Request, res: Response, costs: Costs | undefined) => Promise<void> {
  // The strictest comes last, so that its RateLimit headers are those the caller sees.
  const all = limiter('requests', config.RATE_LIMIT_REQUESTS);
  const by = {
    model: limiter('model-backed requests', config.RATE_LIMIT_MODEL),
    start: limiter('starts', config.RATE_LIMIT_STARTS),
  };
  return async (req, res, costs) => {
    await pass(all, req, res);
    if (costs !== undefined) await pass(by[costs], req, res);
  };
}

function limiter(what: string, limit: number): RequestHandler | undefined {
  if (limit === 0) return undefined;
  return rateLimit({
    windowMs,
    limit,
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    keyGenerator: (_req, res) => String(res.locals.tokenId),
    handler: (_req, _res, next) =>
      next(new AppError(429, `At most ${limit} ${what} a minute; wait as long as Retry-After says`)),
  });
}

function pass(limit: RequestHandler | undefined, req: Request, res: Response): Promise<void> {
  if (limit === undefined) return Promise.resolve();
  return new Promise((resolve, reject) => limit(req, res, (error?: unknown) => (error ? reject(error) : resolve())));
}

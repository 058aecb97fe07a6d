import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { App } from '../../app.ts';
import { AppError, unauthorized } from '../../errors.ts';
import { userLimits } from '../limits/rate-limit.ts';
import type { Route } from '../route.ts';
import { findCaller } from './access.ts';
import { bearerPassport, type TokenClaims, tokenOf } from './auth.ts';
import { refuseCrossSite } from './session.ts';
import { tokenUse } from './token-use.ts';

const maxRemembered = 10_000;

export interface Authentication {
  /** Returns the id of the caller's token. @throws AppError 401, 403, 429 */
  tokenIdOf(req: Request, res: Response, declared: Route): Promise<string>;
  /** Replies 429 instead of 401 once an address has caused too many. */
  onRefusal: ErrorRequestHandler;
}

/**
 * Reads the caller's token. A request counts against its user only if the token is live, so that a stolen and revoked
 * token cannot use up its user's limit. Every 401 counts against the caller's address.
 */
export function authentication(app: App, anonymous: RequestHandler): Authentication {
  const passport = bearerPassport(app.keys.jwtSecret, app.config.BASE_URL);
  const claimsOf = (req: Request, res: Response) =>
    new Promise<TokenClaims>((resolve, reject) =>
      passport.authenticate('jwt', { session: false }, (error: unknown, claims: TokenClaims | false) =>
        error || !claims ? reject(error ?? unauthorized()) : resolve(claims),
      )(req, res, reject),
    );
  const noteUse = tokenUse(app);
  const limit = userLimits(app.config);
  /** Tokens that were live at their last check. */
  const live = new Set<string>();
  const remember = (tokenId: string) => {
    if (live.size >= maxRemembered) live.clear();
    live.add(tokenId);
  };
  return {
    tokenIdOf: async (req, res, { costs, counts }) => {
      const { jti, sub } = await claimsOf(req, res);
      if (tokenOf(req, app.config.BASE_URL).isFromCookie) refuseCrossSite(req, app.config.BASE_URL);
      res.locals.tokenId = jti;
      res.locals.userId = sub;
      if (!live.has(jti)) await findCaller(app.db, jti);
      remember(jti);
      const times = counts?.(req.query as Record<string, unknown>) ?? 1;
      await limit(req, res, { costs, times }).catch(async (error) => {
        // Over the limit, a token that was revoked since its last check must still get 401.
        await findCaller(app.db, jti);
        throw error;
      });
      noteUse(jti);
      return jti;
    },
    onRefusal: (error, req, res, next) => {
      if (!(error instanceof AppError) || error.status !== 401) return next(error);
      live.delete(res.locals.tokenId);
      return anonymous(req, res, (overLimit?: unknown) => next(overLimit ?? error));
    },
  };
}

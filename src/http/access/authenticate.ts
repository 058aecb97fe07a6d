import { createSecretKey } from 'node:crypto';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import jwt from 'jsonwebtoken';
import passport from 'passport';
import { ExtractJwt, Strategy } from 'passport-jwt';
import type { App } from '../../app.ts';
import { AppError, unauthorized } from '../../errors.ts';
import { userLimits } from '../limits/rate-limit.ts';
import type { Route } from '../route.ts';
import { findCaller } from './access.ts';
import { readCookie, refuseCrossSite, sessionCookie } from './session.ts';

const everyMs = 60_000;

/**
 * Returns a function that records when a token was last used, at most once a minute per token, without delaying the
 * request.
 */
export function tokenUse(app: App, clock = Date.now): (tokenId: string) => void {
  const noted = new Map<string, number>();
  return (tokenId) => {
    const now = clock();
    if (now - (noted.get(tokenId) ?? 0) < everyMs) return;
    if (noted.size >= maxRemembered) noted.clear();
    noted.set(tokenId, now);
    app.db
      .prepared('token use', 'update api_tokens set last_used_at = now() where id = $1', [tokenId])
      .catch((error) => app.log.warn({ err: error }, 'the last use of a token was not recorded'));
  };
}

const audience = 'api';
/** The only algorithm for signing and verifying. A token must not be able to choose another one. */
const algorithm = 'HS256';

export interface TokenClaims {
  sub: string;
  jti: string;
}

/** Signs an API token. The token is valid while its row in `api_tokens` is. */
export function signToken(secret: string, issuer: string, claims: TokenClaims, expiresAt: Date): string {
  return jwt.sign({ exp: Math.floor(expiresAt.getTime() / 1000) }, secret, {
    algorithm,
    issuer,
    audience,
    subject: claims.sub,
    jwtid: claims.jti,
  });
}

/** Returns the claims of a token that we signed and that has not expired, or undefined for any other string. */
export function readClaims(secret: string, issuer: string, token: string): TokenClaims | undefined {
  try {
    return jwt.verify(token, secret, { algorithms: [algorithm], issuer, audience }) as TokenClaims;
  } catch {
    return undefined;
  }
}

const fromHeader = ExtractJwt.fromAuthHeaderAsBearerToken();

/**
 * Returns the token of a request, and whether it came with the session cookie. A browser sends the cookie even with
 * requests of other sites, so those need the check of `refuseCrossSite`. A header without a token does not count.
 */
function tokenOf(req: Request, issuer: string): { token: string | null; isFromCookie: boolean } {
  const token = fromHeader(req);
  if (token !== null) return { token, isFromCookie: false };
  return { token: readCookie(req, issuer, sessionCookie) ?? null, isFromCookie: true };
}

/**
 * Verifies tokens in the Authorization header or the session cookie. Whether a token was revoked is checked later, by
 * the route's access rule.
 */
function bearerPassport(secret: string, issuer: string): passport.Authenticator {
  const authenticator = new passport.Passport();
  // With a text, jsonwebtoken tries for each request whether it is a public key, which takes five times as long as the
  // check itself. It takes a KeyObject, too; the types of passport-jwt do not say so.
  const key: unknown = createSecretKey(Buffer.from(secret));
  authenticator.use(
    new Strategy(
      {
        jwtFromRequest: (req) => tokenOf(req, issuer).token,
        secretOrKey: key as Buffer,
        issuer,
        audience,
        algorithms: [algorithm],
      },
      (claims: Partial<TokenClaims>, done) => {
        const isWhole = typeof claims.sub === 'string' && typeof claims.jti === 'string' && !claims.jti.includes('\0');
        done(null, isWhole ? (claims as TokenClaims) : false);
      },
    ),
  );
  return authenticator;
}

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
      const counted = counts?.(req.query as Record<string, unknown>) ?? 1;
      // The call of a tool has counted once, whatever became of it.
      const times = res.locals.via === 'mcp' ? counted - 1 : counted;
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

import type { Request } from 'express';
import jwt from 'jsonwebtoken';
import passport from 'passport';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { readCookie, sessionCookie } from './session.ts';

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
export function tokenOf(req: Request, issuer: string): { token: string | null; isFromCookie: boolean } {
  const token = fromHeader(req);
  if (token !== null) return { token, isFromCookie: false };
  return { token: readCookie(req, issuer, sessionCookie) ?? null, isFromCookie: true };
}

/**
 * Verifies tokens in the Authorization header or the session cookie. Whether a token was revoked is checked later, by
 * the route's access rule.
 */
export function bearerPassport(secret: string, issuer: string): passport.Authenticator {
  const authenticator = new passport.Passport();
  authenticator.use(
    new Strategy(
      {
        jwtFromRequest: (req) => tokenOf(req, issuer).token,
        secretOrKey: secret,
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

import jwt from 'jsonwebtoken';
import passport from 'passport';
import { ExtractJwt, Strategy } from 'passport-jwt';

const audience = 'api';
/** One algorithm, given on both sides, so that a token cannot choose its own. */
const algorithm = 'HS256';

export interface TokenClaims {
  sub: string;
  jti: string;
}

/** Signs an API token; it is good while its row in `api_tokens` is. */
export function signToken(secret: string, issuer: string, claims: TokenClaims, expiresAt: Date): string {
  return jwt.sign({ exp: Math.floor(expiresAt.getTime() / 1000) }, secret, {
    algorithm,
    issuer,
    audience,
    subject: claims.sub,
    jwtid: claims.jti,
  });
}

/** A passport that knows our Bearer tokens. Whether the token is still live is asked with the access of the route. */
export function bearerPassport(secret: string, issuer: string): passport.Authenticator {
  const authenticator = new passport.Passport();
  authenticator.use(
    new Strategy(
      {
        jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
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

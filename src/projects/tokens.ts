import type { z } from 'zod';
import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import type { SecretKind, UserRow } from '../db/tables/project.ts';
import type { Scope } from '../domain/agent.ts';
import { inProject, theProject } from '../http/access/access.ts';
import { readClaims, signToken } from '../http/access/authenticate.ts';
import { type Route, route } from '../http/route.ts';
import { admit } from './admission.ts';
import { resolveLogin } from './operations.ts';
import { type CreateToken, SetToken, TokenSet, TokenState } from './schemas.ts';
import { dropSecret, keepSecret, secretState } from './secrets.ts';
import { findUserByLogin, insertToken, insertUser, revokeToken, upsertUser } from './store.ts';

/** What people choose of an API token. */
type WantedToken = z.output<typeof CreateToken>;

/** Creates an API token. Its secret is returned here and not stored. */
export function mintApiToken(app: App, userId: string, { name, expiresInDays: days, scopes }: WantedToken) {
  app.audit.note({ name: [null, name], days: [null, days], scopes: [null, scopes] });
  return mint(app, userId, { name, lifeMs: days * 86_400_000, isSession: false, scopes });
}

/** Creates an API token for somebody whom the operator admits to the service. */
export async function mintOperatorToken(app: App, user: UserRow, name: string, expiresInDays: number) {
  await admit(app.db.manager, user.id, 'operator');
  return mintApiToken(app, user.id, { name, expiresInDays, scopes: 'admin' });
}

/** Creates a token for a browser's session cookie. It is not listed among the API tokens. */
export function mintSession(app: App, userId: string, lifeMs: number) {
  return mint(app, userId, { name: 'session', lifeMs, isSession: true, scopes: 'admin' });
}

async function mint(
  app: App,
  userId: string,
  made: { name: string; lifeMs: number; isSession: boolean; scopes: Scope },
) {
  const id = newId('tok');
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + made.lifeMs);
  const token = signToken(app.keys.jwtSecret, app.config.BASE_URL, { sub: userId, jti: id }, expiresAt);
  const prefix = token.slice(-6);
  const { name, isSession, scopes } = made;
  await insertToken(app.db.manager, { id, userId, name, prefix, expiresAt, isSession, scopes });
  return { id, name, token, prefix, scopes, createdAt, expiresAt };
}

/** Revokes the token of a session. A token that this service did not issue is ignored. */
export async function endSession(app: App, token: string): Promise<void> {
  const claims = readClaims(app.keys.jwtSecret, app.config.BASE_URL, token);
  if (claims !== undefined) await revokeToken(app.db.manager, claims.sub, claims.jti);
}

/**
 * Finds the user with a login, or creates one. If GitHub is configured, the user is bound to the GitHub account of that
 * login.
 */
export async function userOfLogin(app: App, login: string): Promise<UserRow> {
  const account = await resolveLogin(app, login);
  const em = app.db.manager;
  if (account !== undefined) return upsertUser(em, account);
  return (await findUserByLogin(em, login)) ?? insertUser(em, login);
}

const tag = 'projects';

/**
 * The operations on a project's own tokens for git hosts and for models. The tokens are stored encrypted and never
 * returned.
 */
export const projectTokenRoutes: Route[] = [
  ...tokenRoutes('git-token', 'GitToken', 'git_token', 'git token'),
  ...tokenRoutes('model-token', 'ModelToken', 'model_token', 'model token'),
];

function tokenRoutes(segment: string, noun: string, kind: SecretKind, name: string): Route[] {
  const path = `/projects/:projectId/${segment}`;
  const access = inProject('admin');
  return [
    route({
      operationId: `set${noun}`,
      method: 'post',
      path,
      summary: `Set the ${name}`,
      // A model's server would read the token.
      guide: null,
      tag,
      access,
      audit: { action: `project.set_${kind}`, object: theProject },
      body: SetToken,
      reply: [200, TokenSet],
      handle: async (app, { projectId, body }) => {
        await keepSecret(app, projectId, kind, body.token);
        return { configured: true };
      },
    }),
    route({
      operationId: `get${noun}`,
      method: 'get',
      path,
      summary: `Check whether a ${name} is set`,
      tag,
      access,
      reply: [200, TokenState],
      handle: (app, { projectId }) => secretState(app, projectId, kind),
    }),
    route({
      operationId: `remove${noun}`,
      method: 'delete',
      path,
      summary: `Remove the ${name}`,
      // A model's server would read the token.
      guide: null,
      tag,
      access,
      audit: { action: `project.remove_${kind}`, object: theProject },
      reply: [204],
      handle: (app, { projectId }) => dropSecret(app, projectId, kind),
    }),
  ];
}

import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import type { UserRow } from '../db/tables.ts';
import { signToken } from '../http/auth.ts';
import { resolveLogin } from './operations.ts';
import { findUserByLogin, insertToken, insertUser, upsertUser } from './store.ts';

/** Makes an API token; its text exists only in what is answered here. */
export async function mintApiToken(app: App, userId: string, name: string, days: number) {
  const id = newId('tok');
  const expiresAt = new Date(Date.now() + days * 86_400_000);
  const createdAt = new Date();
  const token = signToken(app.keys.jwtSecret, app.config.BASE_URL, { sub: userId, jti: id }, expiresAt);
  const prefix = token.slice(-6);
  await insertToken(app.db.manager, { id, userId, name, prefix, expiresAt });
  return { id, name, token, prefix, createdAt, expiresAt };
}

/** The user of a login. With GitHub on it is resolved to its account; off, the login stands alone. */
export async function userOfLogin(app: App, login: string): Promise<UserRow> {
  const account = await resolveLogin(app, login);
  const em = app.db.manager;
  if (account !== undefined) return upsertUser(em, account);
  return (await findUserByLogin(em, login)) ?? insertUser(em, login);
}

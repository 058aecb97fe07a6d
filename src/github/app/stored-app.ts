import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { SecretPlace } from '../../db/sealed.ts';
import { digest, random } from './one-time.ts';

/** The App that the set-up page created. Its secrets are encrypted. */
export interface StoredApp {
  appId: number;
  slug: string;
  clientId: string;
  keyId: string;
  ciphertext: Buffer;
}

/** Stores the App of the service. Returns false when an App is stored already. */
async function insertApp(em: EntityManager, app: StoredApp): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `insert into github_app (app_id, slug, client_id, key_id, ciphertext)
     values ($1, $2, $3, $4, $5) on conflict do nothing returning app_id`,
    [app.appId, app.slug, app.clientId, app.keyId, app.ciphertext],
  );
  return rows.length === 1;
}

/** Finds the App of the service. The table holds at most one row. */
async function findApp(em: EntityManager): Promise<StoredApp | undefined> {
  const rows: StoredApp[] = await em.query(
    'select app_id::float8 as "appId", slug, client_id as "clientId", key_id as "keyId", ciphertext from github_app',
  );
  return rows[0];
}

/** Locks the App's row until the end of the transaction. */
async function lockApp(em: EntityManager): Promise<void> {
  await em.query('select 1 from github_app for update');
}

async function updateAppSecrets(
  em: EntityManager,
  { appId, keyId, ciphertext }: Pick<StoredApp, 'appId' | 'keyId' | 'ciphertext'>,
): Promise<void> {
  await em.query('update github_app set key_id = $2, ciphertext = $3 where app_id = $1', [appId, keyId, ciphertext]);
}

/** Stores the digest of a set-up code, and deletes the digests that are older than a day. */
async function insertSetupCode(em: EntityManager, codeDigest: string): Promise<void> {
  await em.query(`delete from setup_codes where created_at < now() - interval '1 day'`);
  await em.query('insert into setup_codes (code_digest) values ($1)', [codeDigest]);
}

/** Deletes a set-up code. Returns false when it is unknown or older than a day. */
async function deleteSetupCode(em: EntityManager, codeDigest: string): Promise<boolean> {
  const [rows]: [unknown[]] = await em.query(
    `delete from setup_codes where code_digest = $1 and created_at > now() - interval '1 day' returning 1`,
    [codeDigest],
  );
  return rows.length === 1;
}

/** GitHub's description of a new App (docs.github.com, "Registering a GitHub App from a manifest"). */
export interface NewApp {
  id: number;
  slug: string;
  client_id: string;
  client_secret: string;
  webhook_secret: string;
  pem: string;
}

/** The decrypted secrets of a stored App. They are encrypted as JSON. */
interface Secrets {
  privateKey: string;
  webhookSecret: string;
  clientSecret: string;
}

const place = (appId: number): SecretPlace => ({
  table: 'github_app',
  row: String(appId),
  column: 'ciphertext',
  project: '',
});

/** Stores a new App with its secrets encrypted, and starts using it. Returns false when an App is stored already. */
export async function storeApp(app: App, made: NewApp): Promise<boolean> {
  const { id: appId, slug, client_id: clientId } = made;
  const secrets: Secrets = {
    privateKey: made.pem,
    webhookSecret: made.webhook_secret,
    clientSecret: made.client_secret,
  };
  const { keyId, ciphertext } = app.secrets.seal(JSON.stringify(secrets), place(appId));
  const isFirst = await insertApp(app.db.manager, { appId, slug, clientId, keyId, ciphertext });
  await adoptStoredApp(app);
  return isFirst;
}

/** Starts using the App that the set-up page stored, unless an App is in use already. */
export async function adoptStoredApp(app: App): Promise<void> {
  if (app.github !== undefined) return;
  const stored = await findApp(app.db.manager);
  if (stored === undefined) return;
  const secrets = JSON.parse(app.secrets.open(stored, place(stored.appId))) as Secrets;
  app.connectGitHub({
    appId: stored.appId,
    privateKey: secrets.privateKey,
    webhookSecrets: [secrets.webhookSecret],
    client: { id: stored.clientId, secret: secrets.clientSecret },
  });
}

/** Deletes the stored App if its secrets cannot be decrypted. Returns whether it was. */
export async function forgetUnreadableApp({ db, secrets }: Pick<App, 'db' | 'secrets'>): Promise<boolean> {
  const stored = await findApp(db.manager);
  if (stored === undefined) return false;
  try {
    secrets.open(stored, place(stored.appId));
    return false;
  } catch {
    await db.manager.query('delete from github_app where app_id = $1', [stored.appId]);
    return true;
  }
}

/** Encrypts the stored App's secrets with the newest key. Returns the number of Apps, 0 or 1. */
export async function resealApp(app: App): Promise<number> {
  return app.db.transaction(async (em) => {
    await lockApp(em);
    const stored = await findApp(em);
    if (stored === undefined) return 0;
    const { appId } = stored;
    const { keyId, ciphertext } = app.secrets.seal(app.secrets.open(stored, place(appId)), place(appId));
    await updateAppSecrets(em, { appId, keyId, ciphertext });
    return 1;
  });
}

/**
 * Returns the address of the set-up page with a new one-time code, valid for a day. Returns undefined once an App
 * exists.
 */
export async function setupAddress(app: App): Promise<string | undefined> {
  if (app.github !== undefined) return undefined;
  return `${app.config.BASE_URL}/setup?code=${await mintSetupCode(app.db.manager)}`;
}

/** Creates a one-time code for the set-up page. Only its digest is stored. */
export async function mintSetupCode(em: EntityManager): Promise<string> {
  const code = random();
  await insertSetupCode(em, digest(code));
  return code;
}

/** Uses up a one-time code. Returns false when it is unknown, used or older than a day. */
export async function takeSetupCode(em: EntityManager, code: string): Promise<boolean> {
  return deleteSetupCode(em, digest(code));
}

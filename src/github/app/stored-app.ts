import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { SecretPlace } from '../../db/secret-box.ts';
import { digest, random } from '../sign-in/one-time.ts';
import { deleteSetupCode, findApp, insertApp, insertSetupCode, lockApp, updateAppSecrets } from './app-store.ts';

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

import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { SecretPlace } from '../../db/secret-box.ts';
import { digest, random } from '../sign-in/one-time.ts';

/** What GitHub gives for a new App (docs.github.com, "Registering a GitHub App from a manifest"). */
export interface NewApp {
  id: number;
  slug: string;
  client_id: string;
  client_secret: string;
  webhook_secret: string;
  pem: string;
}

interface Secrets {
  privateKey: string;
  webhookSecret: string;
  clientSecret: string;
}

interface StoredApp {
  appId: number;
  clientId: string;
  keyId: string;
  ciphertext: Buffer;
}

const place = (appId: number): SecretPlace => ({
  table: 'github_app',
  row: String(appId),
  column: 'ciphertext',
  project: '',
});

/** Keeps a new App, its secrets encrypted, and connects it; false when there is one already. */
export async function storeApp(app: App, made: NewApp): Promise<boolean> {
  const secrets: Secrets = {
    privateKey: made.pem,
    webhookSecret: made.webhook_secret,
    clientSecret: made.client_secret,
  };
  const sealed = app.secrets.seal(JSON.stringify(secrets), place(made.id));
  const rows = await app.db.manager.query(
    `insert into github_app (app_id, slug, client_id, key_id, ciphertext)
     values ($1, $2, $3, $4, $5) on conflict do nothing returning app_id`,
    [made.id, made.slug, made.client_id, sealed.keyId, sealed.ciphertext],
  );
  await adoptStoredApp(app);
  return rows.length === 1;
}

/** Connects the App that the setup page stored, if there is one and none is connected yet. */
export async function adoptStoredApp(app: App): Promise<void> {
  if (app.github !== undefined) return;
  const stored = await findStoredApp(app.db.manager);
  if (stored === undefined) return;
  const secrets = JSON.parse(app.secrets.open(stored, place(stored.appId))) as Secrets;
  app.connectGitHub({
    appId: stored.appId,
    privateKey: secrets.privateKey,
    webhookSecrets: [secrets.webhookSecret],
    client: { id: stored.clientId, secret: secrets.clientSecret },
  });
}

async function findStoredApp(em: EntityManager): Promise<StoredApp | undefined> {
  const rows: StoredApp[] = await em.query(
    `select app_id::float8 as "appId", client_id as "clientId", key_id as "keyId", ciphertext from github_app limit 1`,
  );
  return rows[0];
}

/** Seals the App's secrets under the newest key; answers how many there were. */
export async function resealApp(app: App): Promise<number> {
  return app.db.transaction(async (em) => {
    await em.query('select 1 from github_app for update');
    const stored = await findStoredApp(em);
    if (stored === undefined) return 0;
    const at = place(stored.appId);
    const { keyId, ciphertext } = app.secrets.seal(app.secrets.open(stored, at), at);
    await em.query('update github_app set key_id = $2, ciphertext = $3 where app_id = $1', [
      stored.appId,
      keyId,
      ciphertext,
    ]);
    return 1;
  });
}

/** The address of the setup page with a new one-time code, good for a day; undefined once there is an App. */
export async function setupAddress(app: App): Promise<string | undefined> {
  if (app.github !== undefined) return undefined;
  const code = random();
  await app.db.manager.query(`delete from setup_codes where created_at < now() - interval '1 day'`);
  await app.db.manager.query('insert into setup_codes (code_digest) values ($1)', [digest(code)]);
  return `${app.config.BASE_URL}/setup?code=${code}`;
}

/** Takes a one-time code; false when it is unknown, used or older than a day. */
export async function takeSetupCode(app: App, code: string): Promise<boolean> {
  const [rows] = await app.db.manager.query(
    `delete from setup_codes where code_digest = $1 and created_at > now() - interval '1 day' returning 1`,
    [digest(code)],
  );
  return rows.length === 1;
}

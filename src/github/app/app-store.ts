import type { EntityManager } from 'typeorm';

/** The App that the set-up page created. Its secrets are encrypted. */
export interface StoredApp {
  appId: number;
  slug: string;
  clientId: string;
  keyId: string;
  ciphertext: Buffer;
}

/** Stores the App of the service. Returns false when an App is stored already. */
export async function insertApp(em: EntityManager, app: StoredApp): Promise<boolean> {
  const rows = await em.query(
    `insert into github_app (app_id, slug, client_id, key_id, ciphertext)
     values ($1, $2, $3, $4, $5) on conflict do nothing returning app_id`,
    [app.appId, app.slug, app.clientId, app.keyId, app.ciphertext],
  );
  return rows.length === 1;
}

/** Finds the App of the service. The table holds at most one row. */
export async function findApp(em: EntityManager): Promise<StoredApp | undefined> {
  const rows: StoredApp[] = await em.query(
    'select app_id::float8 as "appId", slug, client_id as "clientId", key_id as "keyId", ciphertext from github_app',
  );
  return rows[0];
}

/** Locks the App's row until the end of the transaction. */
export async function lockApp(em: EntityManager): Promise<void> {
  await em.query('select 1 from github_app for update');
}

export async function updateAppSecrets(
  em: EntityManager,
  { appId, keyId, ciphertext }: Pick<StoredApp, 'appId' | 'keyId' | 'ciphertext'>,
): Promise<void> {
  await em.query('update github_app set key_id = $2, ciphertext = $3 where app_id = $1', [appId, keyId, ciphertext]);
}

/** Stores the digest of a set-up code, and deletes the digests that are older than a day. */
export async function insertSetupCode(em: EntityManager, codeDigest: string): Promise<void> {
  await em.query(`delete from setup_codes where created_at < now() - interval '1 day'`);
  await em.query('insert into setup_codes (code_digest) values ($1)', [codeDigest]);
}

/** Deletes a set-up code. Returns false when it is unknown or older than a day. */
export async function deleteSetupCode(em: EntityManager, codeDigest: string): Promise<boolean> {
  const [rows] = await em.query(
    `delete from setup_codes where code_digest = $1 and created_at > now() - interval '1 day' returning 1`,
    [codeDigest],
  );
  return rows.length === 1;
}

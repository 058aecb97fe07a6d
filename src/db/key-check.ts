import type { EntityManager } from 'typeorm';
import type { Sealed, SecretBox, SecretPlace } from './sealed.ts';

const value = 'the key is right';
const place: SecretPlace = { table: 'key_check', row: 'only', column: 'value', project: '' };

/**
 * Checks that this process has the encryption key with which the database is used. Without this, secrets that were stored
 * before could not be decrypted, and those stored from then on would need another key. The first process stores the check,
 * unless it `looksOnly`.
 *
 * @returns what is wrong, to complete a sentence that begins with the key's name, or undefined
 */
export async function keyProblem(
  em: EntityManager,
  secrets: SecretBox,
  { looksOnly = false } = {},
): Promise<string | undefined> {
  const stored = await findCheck(em);
  if (stored !== undefined) return isReadable(secrets, stored) ? undefined : wrongKey([stored.keyId]);
  // Before there was a check, secrets may have been stored with another key.
  const keyIds = await listKeyIds(em);
  if (keyIds.length > 0 && !keyIds.some((keyId) => secrets.knows(keyId))) return wrongKey(keyIds);
  if (looksOnly) return undefined;
  const { keyId, ciphertext } = secrets.seal(value, place);
  await em.query('insert into key_check (key_id, ciphertext) values ($1, $2) on conflict do nothing', [
    keyId,
    ciphertext,
  ]);
  // Another process may have been faster, with another key.
  const kept = await findCheck(em);
  return kept === undefined || isReadable(secrets, kept) ? undefined : wrongKey([kept.keyId]);
}

/**
 * Encrypts the check with the current key. With `isLost`, the key that encrypted it need not be known.
 * @throws Error if it is unknown otherwise
 */
export async function resealKeyCheck(em: EntityManager, secrets: SecretBox, isLost = false): Promise<void> {
  const stored = await findCheck(em);
  if (stored !== undefined && !isLost) secrets.open(stored, place);
  const { keyId, ciphertext } = secrets.seal(value, place);
  await em.query(
    `insert into key_check (key_id, ciphertext) values ($1, $2)
     on conflict (is_only) do update set key_id = excluded.key_id, ciphertext = excluded.ciphertext`,
    [keyId, ciphertext],
  );
}

function wrongKey(keyIds: string[]): string {
  return `is not the key with which the stored secrets are encrypted (id ${keyIds.join(', ')}). Restore that key, or set ENCRYPTION_KEY_PREVIOUS to it and run "npm run rotate-key". If it is lost, run "npm run rotate-key -- --lost" and set the secrets again.`;
}

function isReadable(secrets: SecretBox, stored: Sealed): boolean {
  try {
    return secrets.open(stored, place) === value;
  } catch {
    return false;
  }
}

async function findCheck(em: EntityManager): Promise<Sealed | undefined> {
  const rows: Sealed[] = await em.query('select key_id as "keyId", ciphertext from key_check');
  return rows[0];
}

/** Returns the ids of the keys that encrypted the stored secrets. */
async function listKeyIds(em: EntityManager): Promise<string[]> {
  const rows: { keyId: string }[] = await em.query(
    `select key_id as "keyId" /* not null */ from (
       select key_id from project_secrets union select key_id from mcp_headers union select key_id from environment_secrets
       union select key_id from webhooks union select key_id from receipt_keys union select key_id from github_app) k
     where key_id is not null order by 1`,
  );
  return rows.map(({ keyId }) => keyId);
}

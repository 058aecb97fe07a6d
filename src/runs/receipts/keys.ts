import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { SecretPlace } from '../../db/sealed.ts';
import { publicKeyOf, type ReceiptKey, receiptKey } from '../../domain/receipt/envelope.ts';

interface StoredKey {
  id: string;
  keyId: string;
  ciphertext: Buffer;
}

/** Returns the public keys of receipts, the newest first. */
async function listPublicKeys(em: EntityManager): Promise<string[]> {
  const rows: { publicKey: string }[] = await em.query(
    'select public_key as "publicKey" from receipt_keys order by created_at desc, id limit 100',
  );
  return rows.map((row) => row.publicKey);
}

/** Stores a key unless it is stored. `sealed` is its private half. */
async function insertKey(
  em: EntityManager,
  { kid, x }: ReceiptKey,
  sealed: Pick<StoredKey, 'keyId' | 'ciphertext'> | undefined,
): Promise<void> {
  await em.query(
    `insert into receipt_keys (id, public_key, key_id, ciphertext) values ($1, $2, $3, $4) on conflict (id) do nothing`,
    [kid, x, sealed?.keyId ?? null, sealed?.ciphertext ?? null],
  );
}

/** Returns the newest key that the service generated. */
async function findGenerated(em: EntityManager): Promise<StoredKey | undefined> {
  const rows: StoredKey[] = await em.query(
    `select id, key_id as "keyId" /* not null */, ciphertext /* not null */ from receipt_keys
     where ciphertext is not null order by created_at desc, id limit 1`,
  );
  return rows[0];
}

async function listGenerated(em: EntityManager): Promise<StoredKey[]> {
  return em.query(
    `select id, key_id as "keyId" /* not null */, ciphertext /* not null */ from receipt_keys
     where ciphertext is not null order by id for update`,
  );
}

const placeOf = (id: string): SecretPlace => ({ table: 'receipt_keys', row: id, column: 'ciphertext', project: '' });

/**
 * Returns the key that signs receipts: RECEIPT_KEY, or else the newest one that the service generated. Its public half is
 * listed from then on.
 */
export async function signingKey(app: App): Promise<KeyObject> {
  const { RECEIPT_KEY: given } = app.config;
  const em = app.db.manager;
  if (given !== undefined) {
    const key = createPrivateKey(given);
    await insertKey(em, publicKeyOf(key), undefined);
    return key;
  }
  const stored = await findGenerated(em);
  if (stored !== undefined) return opened(app, stored);
  // Several workers may sign their first receipt at the same time.
  return app.db.withLock('receipt key', async () => {
    const made = await findGenerated(em);
    return made === undefined ? generateKey(app) : opened(app, made);
  });
}

function opened(app: App, stored: StoredKey): KeyObject {
  return createPrivateKey(app.secrets.open(stored, placeOf(stored.id)));
}

async function generateKey(app: App): Promise<KeyObject> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const made = publicKeyOf(privateKey);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await insertKey(app.db.manager, made, app.secrets.seal(pem, placeOf(made.kid)));
  return privateKey;
}

/** Returns the public keys of all receipts as a JSON Web Key Set (RFC 7517), the newest first. */
export async function publicKeys(app: App): Promise<{ keys: ReceiptKey[] }> {
  return { keys: (await listPublicKeys(app.db.manager)).map(receiptKey) };
}

/**
 * Generates another key for the receipts to come. The public halves of earlier keys stay listed, so that earlier receipts can
 * be verified, unless `revokes` says that they are not to be trusted any more. With RECEIPT_KEY, that one stays in use.
 */
export async function rotateReceiptKey(app: App, revokes: boolean): Promise<{ id: string; revoked: number }> {
  const key = app.config.RECEIPT_KEY === undefined ? await generateKey(app) : await signingKey(app);
  const { kid: id } = publicKeyOf(key);
  if (!revokes) return { id, revoked: 0 };
  const [, revoked]: [unknown, number] = await app.db.manager.query('delete from receipt_keys where id <> $1', [id]);
  return { id, revoked };
}

/** Encrypts the generated keys with the newest key of the service. Returns their number. */
export async function resealReceiptKeys(app: App): Promise<number> {
  return app.db.transaction(async (em) => {
    const keys = await listGenerated(em);
    for (const stored of keys) {
      const { keyId, ciphertext } = app.secrets.seal(app.secrets.open(stored, placeOf(stored.id)), placeOf(stored.id));
      await em.query('update receipt_keys set key_id = $2, ciphertext = $3 where id = $1', [
        stored.id,
        keyId,
        ciphertext,
      ]);
    }
    return keys.length;
  });
}

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Where a ciphertext is stored. Encryption binds it to this place: copied to another row, it cannot be decrypted. */
export interface SecretPlace {
  table: string;
  row: string;
  column: string;
  project: string;
}

export interface Sealed {
  keyId: string;
  ciphertext: Buffer;
}

/** Encrypts stored secrets with AES-256-GCM under the first key; decrypts with any of the keys. */
export interface SecretBox {
  seal(value: string, place: SecretPlace): Sealed;
  /** Decrypts a secret. @throws Error if the key is unknown, or the ciphertext was changed or moved */
  open(sealed: Sealed, place: SecretPlace): string;
}

const nonceBytes = 12;
const tagBytes = 16;

export function secretBox(keys: () => readonly [Buffer, ...Buffer[]]): SecretBox {
  return {
    seal: (value, place) => {
      const [current] = keys();
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(boundTo(place));
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return { keyId: keyIdOf(current), ciphertext: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
    },
    open: (sealed, place) => {
      const key = keys().find((k) => keyIdOf(k) === sealed.keyId);
      if (key === undefined)
        throw new Error('the key that encrypted this secret is unknown; set ENCRYPTION_KEY_PREVIOUS to it');
      const { ciphertext } = sealed;
      const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, nonceBytes))
        .setAAD(boundTo(place))
        .setAuthTag(ciphertext.subarray(nonceBytes, nonceBytes + tagBytes));
      return decipher.update(ciphertext.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

function keyIdOf(key: Buffer): string {
  return createHash('sha256').update('deckhand key id').update(key).digest('hex').slice(0, 8);
}

function boundTo(place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([place.table, place.row, place.column, place.project]));
}

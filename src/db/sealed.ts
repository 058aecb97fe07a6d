import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeOnce } from './embedded/embedded-binaries.ts';

interface GivenKeys {
  JWT_SECRET?: string | undefined;
  ENCRYPTION_KEY?: Buffer | undefined;
  ENCRYPTION_KEY_PREVIOUS?: Buffer | undefined;
}

/** The first key encrypts. All of them can decrypt. */
export type KeyRing = readonly [Buffer, ...Buffer[]];

export interface Keys {
  jwtSecret: string;
  /** Returns the current keys. Reads them each time, because `npm run rotate-key` may have created a new one. */
  encryptionKeys: () => KeyRing;
}

const keyFile = 'encryption.key';
const previousFile = 'encryption.key.previous';

/**
 * Returns the keys from the settings. Keys that are not set are created once and kept in the data folder (mode 0600).
 */
export async function readKeys(given: GivenKeys, dataDir: string): Promise<Keys> {
  const jwtSecret = given.JWT_SECRET ?? (await kept(dataDir, 'jwt.secret')).toString('hex');
  const { ENCRYPTION_KEY: key, ENCRYPTION_KEY_PREVIOUS: previous } = given;
  const older = previous === undefined ? [] : [previous];
  if (key !== undefined) return { jwtSecret, encryptionKeys: () => [key, ...older] };
  await kept(dataDir, keyFile);
  return {
    jwtSecret,
    encryptionKeys: () => [readKey(dataDir, keyFile) as Buffer, ...present(readKey(dataDir, previousFile)), ...older],
  };
}

function present(key: Buffer | undefined): Buffer[] {
  return key === undefined ? [] : [key];
}

function readKey(dataDir: string, name: string): Buffer | undefined {
  try {
    return parseKey(readFileSync(join(dataDir, name), 'utf8'), join(dataDir, name));
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT' && name === previousFile) return undefined;
    throw error;
  }
}

function parseKey(text: string, file: string): Buffer {
  const key = Buffer.from(text.trim(), 'hex');
  if (key.length !== 32) throw new Error(`${file} does not hold 32 bytes in hex; restore it from a backup`);
  return key;
}

async function kept(dataDir: string, name: string): Promise<Buffer> {
  const file = join(dataDir, name);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  await writeOnce(file, randomBytes(32).toString('hex'));
  return parseKey(await readFile(file, 'utf8'), file);
}

/** Creates a new key in the data folder. The previous key can still decrypt. Neither file is ever incomplete. */
export async function makeNewKey(dataDir: string): Promise<void> {
  const current = await readFile(join(dataDir, keyFile), 'utf8');
  await replace(join(dataDir, previousFile), current);
  await replace(join(dataDir, keyFile), randomBytes(32).toString('hex'));
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

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
  /** Returns whether the key with this id is one of the keys. */
  knows(keyId: string): boolean;
}

const nonceBytes = 12;
const tagBytes = 16;
/** Bytes that a ciphertext has more than its value. */
export const sealedExtra = nonceBytes + tagBytes;

export function secretBox(keys: () => readonly [Buffer, ...Buffer[]]): SecretBox {
  return {
    knows: (keyId) => keys().some((key) => keyIdOf(key) === keyId),
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

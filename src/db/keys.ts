import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeOnce } from './embedded/write-once.ts';

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

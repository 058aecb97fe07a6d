import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface GivenKeys {
  JWT_SECRET?: string | undefined;
  ENCRYPTION_KEY?: Buffer | undefined;
  ENCRYPTION_KEY_PREVIOUS?: Buffer | undefined;
}

export interface Keys {
  jwtSecret: string;
  /** The first one seals; all of them open. */
  encryptionKeys: [Buffer, ...Buffer[]];
}

/** The keys of the settings; where they are unset, keys that are made once and kept in the data folder, 0600. */
export async function readKeys(given: GivenKeys, dataDir: string): Promise<Keys> {
  const jwtSecret = given.JWT_SECRET ?? (await kept(dataDir, 'jwt.secret')).toString('hex');
  const encryptionKey = given.ENCRYPTION_KEY ?? (await kept(dataDir, 'encryption.key'));
  const previous = given.ENCRYPTION_KEY_PREVIOUS;
  return { jwtSecret, encryptionKeys: previous === undefined ? [encryptionKey] : [encryptionKey, previous] };
}

async function kept(dataDir: string, name: string): Promise<Buffer> {
  const file = join(dataDir, name);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  // `wx`: of two processes that start at once one writes, and both read the same.
  await writeFile(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'hex');
  if (key.length !== 32) throw new Error(`${file} does not hold 32 bytes in hex; restore it from a backup`);
  return key;
}

import { generateKeyPairSync } from 'node:crypto';

/** A private key as GitHub gives one to an App. */
export const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
}) as string;

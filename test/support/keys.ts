import { generateKeyPairSync } from 'node:crypto';

/** A private key in the format that GitHub gives to Apps. */
export const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
}) as string;

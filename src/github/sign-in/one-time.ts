import { createHash, randomBytes } from 'node:crypto';

/** Creates an unguessable string (256 bits) for states, cookies and codes. */
export function random(): string {
  return randomBytes(32).toString('base64url');
}

/** Hashes a state, cookie or code for storing, so that reading the table does not help an attacker. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

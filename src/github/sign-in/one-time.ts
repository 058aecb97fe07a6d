import { createHash, randomBytes } from 'node:crypto';

/** A text that nobody guesses, for states, cookies and codes. */
export function random(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of such a text: whoever reads the table cannot use it. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

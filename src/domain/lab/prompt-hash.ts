import { createHash } from 'node:crypto';

/** Returns what identifies a system prompt: its SHA-256 in hexadecimal. */
export function promptHash(systemPrompt: string): string {
  return createHash('sha256').update(systemPrompt).digest('hex');
}

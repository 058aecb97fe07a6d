// Runs in a worker thread for larger files (outgoing-scan.ts), because a malicious file could otherwise block the
// service.
import { bare, containsSome, flat, type Needles, tokenShapes } from '../../domain/secrets.ts';
import { isBinary } from '../../git/diff-files.ts';

/** The contents of a changed file. In a worker thread, a buffer arrives as a plain Uint8Array. */
export interface Contents {
  bytes: Uint8Array;
  isNew: boolean;
  /** The file had conflicts, so it may still contain git's markers. */
  hadConflict: boolean;
}

export interface Found {
  reason: string;
  /** Whether it looks like a token. A token that the file already contained is allowed. */
  isToken?: true;
}

export const unresolved = 'still contains conflict markers';

/** The live credentials, as they are searched for in flat and in bare bytes. */
export interface Wanted {
  flat: Needles;
  bare: Needles;
}

/** Returns for each file why it must not be pushed, or undefined. */
export function search(files: Contents[], wanted: Wanted): (Found | undefined)[] {
  return files.map((file) => searchOne(file, wanted));
}

function searchOne({ bytes, isNew, hadConflict }: Contents, wanted: Wanted): Found | undefined {
  const text = latin1(bytes);
  if (containsSome(flat(bytes), wanted.flat) || containsSome(bare(bytes), wanted.bare))
    return { reason: 'contains a live credential' };
  const shape = tokenShapes.find(([, pattern]) => text.search(pattern) >= 0);
  if (shape !== undefined) return { reason: `contains what looks like ${shape[0]}`, isToken: true };
  return otherReason(bytes, text, isNew, hadConflict);
}

function otherReason(bytes: Uint8Array, text: string, isNew: boolean, hadConflict: boolean): Found | undefined {
  if (isNew && isBinary(bytes)) return { reason: 'is a new binary file' };
  return hadConflict && /^(<{7} |>{7} )/m.test(text) ? { reason: unresolved } : undefined;
}

/** At most this many tokens are looked up in the old contents, because each look-up reads the whole file. */
const maxLookUps = 100;

/**
 * Returns why a changed file must not be pushed, or undefined. Tokens that were already in its old contents `old` are
 * allowed.
 */
export function searchChanged(file: Contents, old: Uint8Array): Found | undefined {
  const [before, text] = [latin1(old), latin1(file.bytes)];
  for (const [what, pattern] of tokenShapes) {
    const found = new Set(tokensIn(text, pattern));
    for (const token of tokensIn(before, pattern)) found.delete(token);
    // The old contents may contain a new match as part of a longer word, where the pattern does not match it. So the
    // old contents are also searched for the plain string.
    const added = [...found];
    if (added.length > maxLookUps || added.some((token) => !before.includes(token)))
      return { reason: `contains what looks like ${what}` };
  }
  return otherReason(file.bytes, text, false, file.hadConflict);
}

function tokensIn(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? [];
}

/** Decodes as latin1, which keeps every byte, so that a secret in a binary file is found too. */
function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

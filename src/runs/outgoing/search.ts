// What a run would push was written by a stranger: larger contents are searched in a thread of its own (outgoing-scan.ts).
import { isBinary } from '../../git/diff-files.ts';
import { tokenShapes } from './token-shapes.ts';

/** The contents of a changed file. Bytes arrive in a thread as bare arrays. */
export interface Contents {
  bytes: Uint8Array;
  isNew: boolean;
  /** The file conflicted, so git's markers may still be in it. */
  hadConflict: boolean;
}

export interface Found {
  reason: string;
  /** What looks like a token; it may stay where it was before. */
  isToken?: true;
}

export const stillTorn = 'still holds conflict markers';

/** What speaks against each of some files; `forms` are live credentials in every form they may leave in. */
export function search(files: Contents[], forms: string[]): (Found | undefined)[] {
  return files.map((file) => searchOne(file, forms));
}

function searchOne({ bytes, isNew, hadConflict }: Contents, forms: string[]): Found | undefined {
  const text = latin1(bytes);
  // Also over several lines, as base64 and hex are printed, and in two bytes for each letter.
  const flat = text.replace(/[\s\0]+/g, '');
  if (forms.some((form) => flat.includes(form) || (/[\s\0]/.test(form) && text.includes(form))))
    return { reason: 'contains a live credential' };
  const shape = tokenShapes.find(([, pattern]) => text.search(pattern) >= 0);
  if (shape !== undefined) return { reason: `contains what looks like ${shape[0]}`, isToken: true };
  return otherReason(bytes, text, isNew, hadConflict);
}

function otherReason(bytes: Uint8Array, text: string, isNew: boolean, hadConflict: boolean): Found | undefined {
  if (isNew && isBinary(bytes)) return { reason: 'is a new binary file' };
  return hadConflict && /^(<{7} |>{7} )/m.test(text) ? { reason: stillTorn } : undefined;
}

/** How many tokens that were not matched before are looked for one by one. */
const maxLooked = 100;

/** The same for a file with what looks like tokens, when it was there before with the contents `old`. */
export function searchChanged(file: Contents, old: Uint8Array): Found | undefined {
  const [before, text] = [latin1(old), latin1(file.bytes)];
  for (const [what, pattern] of tokenShapes) {
    const found = new Set(tokensIn(text, pattern));
    for (const token of tokensIn(before, pattern)) found.delete(token);
    // A token that was part of a longer word is none that was matched. Each look takes as long as the file.
    const others = [...found];
    if (others.length > maxLooked || others.some((token) => !before.includes(token)))
      return { reason: `contains what looks like ${what}` };
  }
  return otherReason(file.bytes, text, false, file.hadConflict);
}

function tokensIn(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? [];
}

/** latin1 keeps every byte, so a secret in a binary file is found too. */
function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

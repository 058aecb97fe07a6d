// Searches what a run is about to push. It is untrusted text, so larger contents are searched in a thread (outgoing-scan.ts).
import { isBinary } from '../../git/diff-files.ts';
import { tokenShapes } from './token-shapes.ts';

/** The contents of a changed file. Passed to a thread, a Buffer arrives as a Uint8Array. */
export interface Contents {
  bytes: Uint8Array;
  isNew: boolean;
  /** The file had a merge conflict, so git's markers may still be in it. */
  hadConflict: boolean;
}

export interface Found {
  reason: string;
  /** The reason is something that looks like a token. It is allowed if the file contained it before. */
  isToken?: true;
}

export const stillTorn = 'still holds conflict markers';

/** Why each file must not be pushed; undefined for those that may. `forms` are the live credentials in every encoding. */
export function search(files: Contents[], forms: string[]): (Found | undefined)[] {
  return files.map((file) => searchOne(file, forms));
}

function searchOne({ bytes, isNew, hadConflict }: Contents, forms: string[]): Found | undefined {
  const text = latin1(bytes);
  // Without blanks and NUL, to find encodings that are broken into lines, and UTF-16.
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

/** Tokens to look up one by one in the old contents. A file with more new ones is refused. */
const maxLooked = 100;

/** The same for a file that contains what looks like tokens, given its contents before the change. */
export function searchChanged(file: Contents, old: Uint8Array): Found | undefined {
  const [before, text] = [latin1(old), latin1(file.bytes)];
  for (const [what, pattern] of tokenShapes) {
    const found = new Set(tokensIn(text, pattern));
    for (const token of tokensIn(before, pattern)) found.delete(token);
    // A token that was part of a longer word before did not match then. Each look-up reads the whole file.
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

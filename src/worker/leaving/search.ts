// Runs in a worker thread for larger files (scan-change.ts), because a malicious file could otherwise block the
// service.
import { bare, containsSome, flat, installationToken, type Needles, tokenShapes } from '../../domain/secrets.ts';
import { programIn } from './programs.ts';

/** The contents of a changed file. In a worker thread, a buffer arrives as a plain Uint8Array. */
export interface Contents {
  path: string;
  mode: string;
  bytes: Uint8Array;
  /** The file had conflicts, so it may still contain git's markers. */
  hadConflict: boolean;
}

/** What was found in a file. */
export interface Found {
  /** Why the file must not be pushed, whoever allows it. */
  reason?: string;
  /** What looks like tokens. Those that the file already contained are allowed, and a person may allow others. */
  tokens: Token[];
  /** Whether the reason is about tokens. It does not count if the file already contained them. */
  isToken?: true;
  /** Whether the reason is that the file is a program. One that was a program before may be changed. */
  isProgram?: true;
}

/** A place that looks like a token. Nothing of it reveals the token. */
export interface Token {
  /** Its kind, such as "an AWS access key". */
  what: string;
  /** The number of the line, from 1; undefined in a binary file. */
  line: number | undefined;
}

export const unresolved = 'still contains conflict markers';

/** The live credentials, as they are searched for in flat and in bare bytes. */
export interface Wanted {
  flat: Needles;
  bare: Needles;
}

/** Returns for each file what was found in it, or undefined. */
export function search(files: Contents[], wanted: Wanted): (Found | undefined)[] {
  return files.map((file) => searchOne(file, wanted));
}

function searchOne(file: Contents, wanted: Wanted): Found | undefined {
  const { bytes } = file;
  if (containsSome(flat(bytes), wanted.flat) || containsSome(bare(bytes), wanted.bare))
    return { reason: 'contains a live credential', tokens: [] };
  const text = latin1(bytes);
  return found(
    file,
    text,
    tokensIn(text, () => true),
  );
}

/** At most this many tokens of one file are named. A person is not asked about more. */
const maxTokens = 50;

function found(file: Contents, text: string, tokens: Token[], wasProgram = false): Found | undefined {
  // The service works with such tokens, and another worker may know one that this worker does not know.
  const managed = tokens.find(({ what }) => what === installationToken);
  if (managed !== undefined) return { reason: `contains what looks like ${managed.what}`, tokens, isToken: true };
  if (tokens.length > maxTokens)
    return { reason: `contains more than ${maxTokens} strings that look like credentials`, tokens: [], isToken: true };
  const program = wasProgram ? undefined : programIn(file.bytes, file);
  if (program !== undefined) return { reason: `is ${program}`, tokens, isProgram: true };
  if (file.hadConflict && /^(<{7} |>{7} )/m.test(text)) return { reason: unresolved, tokens };
  return tokens.length > 0 ? { tokens } : undefined;
}

/** At most this many tokens are looked up in the old contents, because each look-up reads the whole file. */
const maxLookUps = 100;

/**
 * Returns what was found in a changed file, or undefined. Tokens that were already in its old contents `old` are allowed,
 * and so is a program that was one.
 */
export function searchChanged(file: Contents, old: Uint8Array, oldMode: string): Found | undefined {
  const [before, text] = [latin1(old), latin1(file.bytes)];
  const isNew = new Set<string>();
  for (const [what, pattern] of tokenShapes) {
    const added = new Set(text.match(pattern) ?? []);
    for (const token of before.match(pattern) ?? []) added.delete(token);
    if (added.size > maxLookUps)
      return {
        reason: `contains more than ${maxLookUps} new strings that look like ${what}`,
        tokens: [],
        isToken: true,
      };
    // The old contents may contain a new match as part of a longer word, where the pattern does not match it. So the
    // old contents are also searched for the plain string.
    for (const token of added) if (!before.includes(token)) isNew.add(token);
  }
  const wasProgram = programIn(old, { path: file.path, mode: oldMode }) !== undefined;
  return found(
    file,
    text,
    tokensIn(text, (token) => isNew.has(token)),
    wasProgram,
  );
}

/** Returns the chosen tokens in the order of their lines: one more than `maxTokens` at most. */
function tokensIn(text: string, isChosen: (token: string) => boolean): Token[] {
  const places: { at: number; what: string }[] = [];
  for (const [what, pattern] of tokenShapes) {
    let count = 0;
    for (const match of text.matchAll(pattern)) {
      if (count > maxTokens) break;
      if (!isChosen(match[0])) continue;
      places.push({ at: match.index, what });
      count += 1;
    }
  }
  places.sort((a, b) => a.at - b.at);
  const isBinary = text.slice(0, 8000).includes('\0');
  const tokens: Token[] = [];
  let [line, from] = [1, 0];
  for (const { at, what } of places.slice(0, maxTokens + 1)) {
    for (let next = text.indexOf('\n', from); next >= 0 && next < at; next = text.indexOf('\n', from)) {
      line += 1;
      from = next + 1;
    }
    tokens.push({ what, line: isBinary ? undefined : line });
  }
  return tokens;
}

/** Decodes as latin1, which keeps every byte, so that a secret in a binary file is found too. */
function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

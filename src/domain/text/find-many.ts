/** The parts of a text that strings cover. */
export type Range = [start: number, end: number];

/** Strings are looked up by their first characters, of which each must have this many. */
const gram = 8;

/** The bases of two hashes. Each is odd, so that no factor of it is lost modulo 2^32. */
const [base1, base2] = [0x01000193, 0x2c1b3c6d] as const;

/** A string, without its characters: its length, and two hashes with the powers that cut them out of a text. */
interface Pattern {
  length: number;
  hash1: number;
  hash2: number;
  power1: number;
  power2: number;
}

/** Many strings, prepared for searching. */
export interface Patterns {
  byGram: Map<number, Pattern[]>;
  /** Which first characters occur, by the upper bits of their hash. Most positions of a text are passed over by it. */
  seen: Uint8Array;
}

/**
 * Prepares strings of eight characters or more. Only hashes are kept of them, so the result can stay in memory when the
 * strings are secrets.
 */
export function preparePatterns(strings: Iterable<string>): Patterns {
  const byGram = new Map<number, Pattern[]>();
  const seen = new Uint8Array(65_536);
  for (const text of strings) {
    if (text.length < gram) continue;
    const start = hashOf(text, gram, base1);
    const { length } = text;
    const [hash1, hash2] = [hashOf(text, length, base1), hashOf(text, length, base2)];
    const known = byGram.get(start) ?? [];
    if (known.some((each) => each.length === length && each.hash1 === hash1 && each.hash2 === hash2)) continue;
    known.push({ length, hash1, hash2, power1: power(base1, length), power2: power(base2, length) });
    byGram.set(start, known);
    seen[start >>> 16] = 1;
  }
  return { byGram, seen };
}

/**
 * Returns which parts of a text the strings cover, with overlapping parts joined. It compares hashes, not characters, so its time is
 * proportional to the length of the text even if text and strings are alike. The hashes have 64 bits together: other text has the same
 * ones only if somebody constructs it.
 */
export function findPatterns(text: string, { byGram, seen }: Patterns): Range[] {
  if (byGram.size === 0 || text.length < gram) return [];
  const sums: Sums = { first: prefixHashes(text, base1), second: undefined };
  const powerOfGram = power(base1, gram);
  const ranges: Range[] = [];
  for (let at = 0; at + gram <= text.length; at++) {
    const start = between(sums.first, at, gram, powerOfGram);
    const known = seen[start >>> 16] === 0 ? undefined : byGram.get(start);
    if (known === undefined) continue;
    const last = ranges.at(-1);
    const covered = Math.max(at, last?.[1] ?? 0);
    const end = longestAt(text, at, covered, known, sums);
    if (end === covered) continue;
    if (last !== undefined && at < last[1]) last[1] = end;
    else ranges.push([at, end]);
  }
  return ranges;
}

/** The hashes of the beginnings of a text. Most texts need only the first ones. */
interface Sums {
  first: Int32Array;
  second: Int32Array | undefined;
}

/** Returns where the longest of the patterns ends that begins at a position; `covered` if none goes beyond that. */
function longestAt(text: string, at: number, covered: number, patterns: Pattern[], sums: Sums): number {
  let end = covered;
  for (const { length, hash1, hash2, power1, power2 } of patterns) {
    if (at + length > text.length || at + length <= end || between(sums.first, at, length, power1) !== hash1) continue;
    sums.second ??= prefixHashes(text, base2);
    if (between(sums.second, at, length, power2) === hash2) end = at + length;
  }
  return end;
}

/** A string whose beginning is looked for. */
export interface Beginning {
  length: number;
  first: number;
  sums: Int32Array;
}

/** Prepares a string for `beginningsIn`. Its characters are not kept. */
export function prepareBeginning(text: string): Beginning {
  return { length: text.length, first: text.charCodeAt(0), sums: prefixHashes(text, base1) };
}

/** Looks for strings that a text may end in the middle of. */
export function beginningsIn(text: string): { find(wanted: Beginning, from: number, before: number): number } {
  const sums = prefixHashes(text, base1);
  return {
    /** Returns where a string begins, at `from` or later and before `before`, to its end or to that of the text; else -1. */
    find: (wanted, from, before) => {
      for (let at = from; at < before; at++) {
        if (text.charCodeAt(at) !== wanted.first) continue;
        const length = Math.min(wanted.length, text.length - at);
        if (between(sums, at, length, power(base1, length)) === wanted.sums[length]) return at;
      }
      return -1;
    },
  };
}

function hashOf(text: string, length: number, base: number): number {
  let hash = 0;
  for (let i = 0; i < length; i++) hash = (Math.imul(hash, base) + text.charCodeAt(i) + 1) | 0;
  return hash;
}

/** Returns the hashes of all beginnings of a text. */
function prefixHashes(text: string, base: number): Int32Array {
  const sums = new Int32Array(text.length + 1);
  let hash = 0;
  for (let i = 0; i < text.length; i++) {
    hash = (Math.imul(hash, base) + text.charCodeAt(i) + 1) | 0;
    sums[i + 1] = hash;
  }
  return sums;
}

/** Returns the hash of a part of a text. */
function between(sums: Int32Array, at: number, length: number, powerOfLength: number): number {
  return ((sums[at + length] as number) - Math.imul(sums[at] as number, powerOfLength)) | 0;
}

/** Returns a base to the power of a number, modulo 2^32. */
function power(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = Math.imul(result, square);
    square = Math.imul(square, square);
  }
  return result;
}

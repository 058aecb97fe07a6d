import { createHash } from 'node:crypto';
import {
  type Beginning,
  beginningsIn,
  findPatterns,
  type Patterns,
  prepareBeginning,
  preparePatterns,
} from './text/find-many.ts';

/**
 * Returns how much of a growing text can be searched for credentials already. The rest may be the beginning of one.
 * Keys and tokens have no spaces, so a text is cut at the last one; other secrets, such as passwords, may have some.
 */
export function safeLength(text: string, secrets: readonly string[]): number {
  let length = boundaryBefore(text, text.length);
  const { spaced } = cleanerOf(secrets);
  const inText = spaced.length === 0 || length === 0 ? undefined : beginningsIn(text);
  for (const secret of spaced) {
    const at = inText?.find(secret, Math.max(0, length - secret.length + 1), length) ?? -1;
    if (at >= 0) length = boundaryBefore(text, at);
  }
  return length;
}

/** Returns the end of the last character before `end` that cannot belong to a key or a token. */
function boundaryBefore(text: string, end: number): number {
  let at = end;
  while (at > 0 && inCredential(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Returns whether credentials have such a character: printable ones of ASCII, without the space. */
function inCredential(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/** The kind of the tokens with which Apps work on GitHub, Deckhand included. */
export const installationToken = "an App's token for GitHub";

/**
 * Patterns of tokens, from the formats that their issuers publish. Each begins with a fixed prefix, so ordinary text
 * does not match. For why we maintain this list ourselves, see docs/decisions/0014-token-shapes.md.
 *
 * Every pattern must limit how far it searches for the end of a token. Otherwise text that begins a thousand tokens and
 * ends none would take minutes.
 */
export const tokenShapes: [string, RegExp][] = [
  // Since 2026 GitHub also issues installation tokens as `ghs_<app id>_<JWT>`.
  [installationToken, /\bghs_\d{1,20}[._]eyJ[\w-]{10,200}\.[\w-]{20,}(?:\.[\w-]+)?/g],
  [installationToken, /\bghs_[A-Za-z0-9]{36,}/g],
  ['a GitHub token', /\b(gh[pour]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})/g],
  ['an OpenAI key', /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}/g],
  ['an AWS access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['a Slack token', /\b(?:xox[abprs]|xapp)-[A-Za-z0-9-]{20,}|hooks\.slack\.com\/services\/T\w+\/B\w+\/\w+/g],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20,}/g],
  ['a Google API key', /\bAIza[A-Za-z0-9_-]{35}\b/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['a PyPI token', /\bpypi-[A-Za-z0-9_-]{50,}/g],
  ['a Stripe key', /\b[rs]k_live_[A-Za-z0-9]{20,}/g],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{30,}/g],
  ['a SendGrid key', /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g],
  ['a Linear key', /\blin_api_[A-Za-z0-9]{40}\b/g],
  ['a Shopify token', /\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b/g],
  ['a Docker Hub token', /\bdckr_[op]at_[A-Za-z0-9_-]{27,}/g],
  ['a Groq key', /\bgsk_[A-Za-z0-9]{52}\b/g],
  ['a Grafana token', /\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b/g],
  ['a Databricks token', /\bdapi[a-f0-9]{32}\b/g],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/g],
];

/** Shorter secrets are not searched for, because they would match by chance. */
const minSecretLength = 8;

/** Returns the secrets in every encoding in which they are searched for. */
export function formsOf(secrets: string[]): string[] {
  return [...new Set(secrets.filter((secret) => secret.length >= minSecretLength).flatMap(formsOfOne))];
}

/**
 * Returns a secret as it is, as part of a URL and of JSON, also with every character escaped, in hex, and in base64 and
 * base64url at each of the three possible offsets.
 */
function formsOfOne(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [
    { offset: 0, first: 0 },
    { offset: 1, first: 2 },
    { offset: 2, first: 3 },
  ].map(({ offset, first }) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters are dropped, because they also depend on the bytes next to the secret.
    return encoded.slice(first, -1);
  });
  const url = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [secret, ...escaped(secret), ...spelled(secret), ...shifted, ...url, hex, hex.toUpperCase()];
}

/** Escapes may be used for every character, also where none is needed. */
function spelled(secret: string): string[] {
  const bytes = Buffer.from(secret).toString('hex');
  const units = Buffer.from(secret, 'utf16le').swap16().toString('hex');
  return [units, units.toUpperCase()]
    .map((hex) => separated(hex, 4, '\\u'))
    .concat(
      [bytes, bytes.toUpperCase()].flatMap((hex) => [
        separated(hex, 2, '%'),
        separated(hex, 2, '\\x'),
        separated(hex, 2, ':').slice(1),
      ]),
    );
}

/** Writes something before each group of digits. A regular expression would take fifty times as long. */
function separated(hex: string, digits: number, before: string): string {
  const written = Buffer.allocUnsafe((hex.length / digits) * (before.length + digits));
  for (let from = 0, to = 0; from < hex.length; from += digits) {
    for (let i = 0; i < before.length; i++) written[to++] = before.charCodeAt(i);
    for (let i = from; i < from + digits; i++) written[to++] = hex.charCodeAt(i);
  }
  return written.toString('latin1');
}

/** Package managers store a password in the URL of a registry, and keys of several lines in JSON. */
function escaped(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  // encodeURIComponent refuses half of a surrogate pair. Some encoders escape more characters than others.
  const url = encodeURIComponent(secret.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const kinds = [...new Set([url, strict, url.replaceAll('%2F', '/')])];
  const urls = [...new Set(kinds.flatMap((each) => [each, each.replaceAll('%20', '+')]))];
  const lower = urls.map((each) => each.replace(/%(?:[A-F].|.[A-F])/g, (code) => code.toLowerCase()));
  return [json, json.replaceAll('/', '\\/'), ...urls, ...lower];
}

/** What to search for to find secrets in bytes. Nothing of it reveals a secret. */
export interface Needles {
  patterns: Patterns;
  /** The length of the longest one. */
  longest: number;
}

/** White space and NUL are left out, so that a value is also found across line breaks and in UTF-16. */
const isKept = Uint8Array.from({ length: 256 }, (_, byte) => (/[\s\0]/.test(String.fromCharCode(byte)) ? 0 : 1));

/** Shorter ones are in files by chance. Secrets have at least eight characters, but these may be white space. */
const minNeedle = 8;

/** Returns what to search for in flat bytes to find these secrets in every encoding of `formsOf`. */
export function needlesOf(secrets: readonly string[]): Needles {
  return prepareNeedles(secrets, flat, minNeedle);
}

function prepareNeedles(secrets: readonly string[], reduce: (bytes: Buffer) => Buffer, least: number): Needles {
  let longest = 0;
  function* needles(): Iterable<string> {
    for (const form of formsOfEach(secrets)) {
      const needle = reduce(Buffer.from(form)).toString('latin1');
      if (needle.length < least) continue;
      longest = Math.max(longest, needle.length);
      yield needle;
    }
  }
  return { patterns: preparePatterns(needles()), longest };
}

/** Returns bytes as they are searched: without white space and NUL. */
export function flat(bytes: Uint8Array): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    kept[length] = byte;
    length += isKept[byte] ?? 1;
  }
  return kept.subarray(0, length);
}

/**
 * Returns whether bytes contain one of the needles that were made for such bytes. The time is proportional to their length:
 * `Buffer.includes` takes 20 s to find that 200 kB contain none of 100 secrets that somebody chose for that.
 */
export function containsSome(bytes: Buffer, { patterns }: Needles): boolean {
  return findPatterns(bytes.toString('latin1'), patterns).length > 0;
}

const removed = '[a credential was removed]';

/** A set of secrets, prepared for removing them from texts. Nothing of it reveals a secret. */
interface Cleaner {
  patterns: Patterns;
  /** The secrets with white space or other characters that keys and tokens do not have. */
  spaced: Beginning[];
}

/**
 * Returns a function that keeps its last result for each array, as long as the contents of the array stay the same. The
 * secrets of a run grow when it opens another repository.
 */
export function oncePerSecrets<T>(prepare: (secrets: readonly string[]) => T): (secrets: readonly string[]) => T {
  const kept = new WeakMap<readonly string[], { contents: string[]; result: T }>();
  return (secrets) => {
    const known = kept.get(secrets);
    if (known?.contents.length === secrets.length && known.contents.every((each, i) => each === secrets[i]))
      return known.result;
    const result = prepare(secrets);
    kept.set(secrets, { contents: [...secrets], result });
    return result;
  };
}

/**
 * Preparing 256 kB of secrets takes 0.2 s. So the sets that were used last are kept, because most callers read the secrets
 * again each time. The keys are digests.
 */
const recent = new Map<string, Cleaner>();
const maxRecent = 32;

const cleanerOf = oncePerSecrets((secrets) => {
  const digest = createHash('sha256');
  for (const secret of secrets) digest.update(`${secret.length} `).update(secret, 'utf16le');
  const key = digest.digest('base64');
  const cleaner = recent.get(key) ?? {
    patterns: preparePatterns(formsOfEach(secrets)),
    spaced: secrets.filter((secret) => !/^[\x21-\x7e]*$/.test(secret)).map(prepareBeginning),
  };
  // Used last, so all others are dropped before it.
  recent.delete(key);
  recent.set(key, cleaner);
  const [oldest] = recent.keys();
  if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
  return cleaner;
});

/** Forms need sixty times the memory of a secret, so they are built for one after the other. */
function* formsOfEach(secrets: readonly string[]): Iterable<string> {
  for (const secret of secrets) if (secret.length >= minSecretLength) yield* formsOfOne(secret);
}

/**
 * Replaces live credentials, and anything that looks like a token, in every string of a value. Used for the output of
 * models and of set-up, which goes to GitHub and into logs. The time is proportional to the length of the strings.
 */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const { patterns } = cleanerOf(secrets);
  const clean = (text: string) => {
    let cleaned = without(text, patterns);
    for (const [, pattern] of tokenShapes) cleaned = cleaned.replace(pattern, removed);
    return cleaned;
  };
  return JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'string' ? clean(v) : v)));
}

function without(text: string, patterns: Patterns): string {
  const parts: string[] = [];
  let at = 0;
  for (const [start, end] of findPatterns(text, patterns)) {
    parts.push(text.slice(at, start), removed);
    at = end;
  }
  return at === 0 ? text : parts.join('') + text.slice(at);
}

/**
 * Removes secrets from text that arrives in pieces. Text that may be the beginning of a secret is held back until it is
 * complete; `end` sends the rest.
 */
export function cleanStream(send: (text: string) => void, secrets: readonly string[]) {
  let held = '';
  const flush = (length: number) => {
    const text = withoutSecrets(held.slice(0, length), secrets);
    held = held.slice(length);
    if (text !== '') send(text);
  };
  return {
    add: (piece: string) => {
      held += piece;
      // Without a boundary in the piece, nothing more can be sent. Looking for one would read all that is held each time.
      if (boundaryBefore(piece, piece.length) > 0) flush(safeLength(held, secrets));
    },
    end: () => flush(held.length),
  };
}

/** Shorter ones could be found in ordinary words, once everything between them is left out. */
const minBareNeedle = 16;

/**
 * Returns what to search for in bare text. Secrets with white space are left out: these may be words, which other texts
 * have, too.
 */
export function bareNeedlesOf(secrets: readonly string[]): Needles {
  return prepareNeedles(
    secrets.filter((secret) => !/\s/.test(secret)),
    bare,
    minBareNeedle,
  );
}

/** A character as an escape of a URL, of JSON and programming languages, of HTML, and in an array of bytes. */
const escapes = /%([0-9a-f]{2})|\\u\{?(?:00)*([0-9a-f]{2})\}?|[\\0]x([0-9a-f]{2})|&#x([0-9a-f]{2});|&#(\d{2,3});/gi;

/**
 * Returns the letters and digits of bytes, without what wraps or separates them: quotation marks, signs of continuation
 * and of comments, commas. Escaped characters count as themselves.
 */
export function bare(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const plain = text.replace(escapes, (_all, ...codes: (string | undefined)[]) => {
    const decimal = codes[4];
    const code = decimal === undefined ? Number.parseInt(codes.slice(0, 4).join(''), 16) : Number(decimal);
    return String.fromCharCode(code % 256);
  });
  return Buffer.from(plain.replace(/[^A-Za-z0-9]+/g, ''), 'latin1');
}

// Runs in a worker thread (repository-settings.ts), because a malicious file could otherwise block the service.
import { isUtf8 } from 'node:buffer';
import { distance } from 'fastest-levenshtein';
import {
  type Document,
  type ErrorCode,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import { addKeys, keysOf } from './add-keys.ts';
import { innerKeys, pathsAbove, pathsMatching, type RepositorySettings, Settings } from './schema.ts';

/** The settings, or a sentence that says what is wrong with the file. */
export type Parsed = { settings: RepositorySettings } | { problem: string };

/**
 * Limit for how many times a file may repeat one YAML anchor, counting aliases inside aliases. Without a limit, a small
 * file could expand until it fills the memory.
 */
const maxAliases = 10;
/** At most this many problems are reported together. */
const maxProblems = 5;

/** Errors whose messages from the parser only programmers would understand. */
const unsupported: Partial<Record<ErrorCode, string>> = {
  MULTIPLE_DOCS: 'a second document begins here; the file must have only one',
  NON_STRING_KEY: 'a key must be text',
  TAG_RESOLVE_FAILED: 'tags such as !!binary are not supported',
};

class Problem extends Error {}

export function parseSettings(bytes: Uint8Array): Parsed {
  try {
    return { settings: validated(documentIn(textOf(bytes))) };
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message };
    if (error instanceof RangeError) return { problem: 'it is nested too deeply' };
    throw error;
  }
}

/** Exported from here because the patterns are untrusted input too, so they are matched in the same worker thread. */
export const matching = pathsMatching;
export const above = pathsAbove;

/** In this thread, too, because the file is untrusted input. */
export const adding = addKeys;
export const listing = keysOf;

function textOf(bytes: Uint8Array): string {
  if (bytes.includes(0)) throw new Problem('it contains NUL characters; save it as UTF-8, not as UTF-16');
  if (!isUtf8(bytes)) throw new Problem('it is not valid UTF-8');
  // Removes a byte order mark.
  return new TextDecoder().decode(bytes);
}

/** A file that was parsed but not validated yet. */
interface Read {
  document: Document.Parsed;
  lineOf(node: unknown): number | undefined;
}

function documentIn(text: string): Read {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    // The parser's own check for duplicate keys takes quadratic time. `assertUniqueKeys` checks them in one pass.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const [wrong] = [...document.errors, ...document.warnings];
  // The parser reports a stack overflow as an error of the node at which it happened.
  if (wrong?.message.includes('call stack')) throw new Problem('it is nested too deeply');
  if (wrong !== undefined)
    throw new Problem(`line ${lineAt(wrong.pos[0])}: ${unsupported[wrong.code] ?? shown(wrong.message)}`);
  if (document.directives.yaml.explicit) throw new Problem('it begins with a %YAML directive, which is not supported');
  const read: Read = {
    document,
    lineOf: (node) => (isNode(node) && node.range ? lineAt(node.range[0]) : undefined),
  };
  assertUniqueKeys(read);
  return read;
}

function assertUniqueKeys({ document, lineOf }: Read): void {
  visit(document, {
    Map: (_key, map) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = nameOf(key);
        if (seen.has(name)) throw problemAt(lineOf(key), `the key "${shown(name)}" occurs twice`);
        seen.add(name);
      }
    },
  });
}

function validated({ document, lineOf }: Read): RepositorySettings {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return Settings.parse({});
  if (!isMap(contents))
    throw problemAt(
      lineOf(contents),
      `it must contain keys such as "checks: npm test", not ${isSeq(contents) ? 'a list' : 'text'}`,
    );
  for (const { key } of contents.items) assertKnown(key, Object.keys(Settings.shape), lineOf);
  for (const [key, known] of Object.entries(innerKeys)) assertKnownInside(contents, key, known, lineOf);
  const parsed = Settings.safeParse(withoutEmpty(valueIn(document)));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, maxProblems).map(({ path, message }) => {
    // A single value is read as a list of one. Its index is not reported, because the file contains no list.
    const isShown = (key: PropertyKey, at: number) =>
      typeof key !== 'number' || isSeq(document.getIn(path.slice(0, at), true));
    return problemAt(lineOf(nodeAt(document, path)), `${path.filter(isShown).join('.')}: ${message}`).message;
  });
  throw new Problem(problems.join('; '));
}

function valueIn(document: Document.Parsed): Record<string, unknown> {
  try {
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    if (error instanceof ReferenceError) throw new Problem(`it repeats an anchor more than ${maxAliases} times`);
    throw error;
  }
}

/** Removes keys without a value, for example a key whose whole list is commented out. */
function withoutEmpty(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

function assertKnown(key: unknown, known: string[], lineOf: Read['lineOf'], before = ''): void {
  const name = nameOf(key);
  if (known.includes(name)) return;
  if (name === '<<') throw problemAt(lineOf(key), 'merge keys (<<) are not supported');
  const word = name.slice(0, 50);
  const nearest = known.reduce((best, each) => (distance(word, each) < distance(word, best) ? each : best));
  throw problemAt(lineOf(key), `there is no key "${before}${shown(name)}"; did you mean "${before}${nearest}"?`);
}

/** Checks the keys of a mapping, or of the mappings of a list, under a key of the file. */
function assertKnownInside(contents: YAMLMap, key: string, known: string[], lineOf: Read['lineOf']): void {
  const value: unknown = contents.get(key);
  for (const map of isSeq(value) ? value.items : [value])
    if (isMap(map)) for (const inner of map.items) assertKnown(inner.key, known, lineOf, `${key}.`);
}

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/** Finds the deepest existing node on the path to a value. */
function nodeAt(document: Document.Parsed, path: PropertyKey[]): unknown {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node)) return node;
  }
  return undefined;
}

function problemAt(line: number | undefined, what: string): Problem {
  return new Problem(line === undefined ? what : `line ${line}: ${what}`);
}

function shown(text: string): string {
  const plain = text.replace(/\p{C}+/gu, ' ');
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain;
}

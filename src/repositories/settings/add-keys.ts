// Runs in a worker thread (repository-settings.ts), because a malicious file could otherwise block the service.

import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseAllDocuments,
  parseDocument,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { escapeInvisible } from '../../domain/text/invisible.ts';

/** A key to add to .deckhand.yml. */
export interface AddedKey {
  key: string;
  value: string[] | Record<string, unknown>;
  /** The key and its value as YAML, for a file that does not have the key. */
  text: string;
}

/**
 * Adds keys to a valid .deckhand.yml, and leaves everything else as it is: also its comments, and how it is laid out where
 * that is possible. A key that is there gets a new list, or further entries of its mapping.
 */
export function addKeys(file: string, added: AddedKey[]): string {
  const document = parseDocument(file, { schema: 'core', logLevel: 'error' });
  const { contents } = document;
  // A file without keys may say `null` or `---`, which would contradict what follows.
  if (!isMap(contents)) return after(commentsIn(file), added.map(({ text }) => text).join(''));
  const edited = editText(file, contents, added);
  contents.flow = false;
  for (const each of added) setKey(document, each);
  try {
    return edited !== undefined && saysTheSame(edited, document) ? edited : escaped(document, added);
  } catch {
    // Another key refers to what would be replaced.
    const lines = added.flatMap(({ text }) => text.trimEnd().split('\n'));
    return after(file.trimEnd(), lines.map((line) => `# ${line}\n`).join(''));
  }
}

/** Returns the keys of a valid .deckhand.yml, also those without a value. */
export function keysOf(file: string): string[] {
  const { contents } = parseDocument(file, { schema: 'core', logLevel: 'error' });
  return isMap(contents) ? contents.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
}

/** Writes the keys into the text itself; undefined where a key has entries already. */
function editText(file: string, { items }: YAMLMap, added: AddedKey[]): string | undefined {
  let edited = file;
  const further: string[] = [];
  const places = added.map((each) => {
    const pair = items.find(({ key }) => isScalar(key) && key.value === each.key);
    return { ...each, pair, at: isScalar(pair?.key) ? (pair.key.range?.[0] ?? 0) : -1 };
  });
  // From the last to the first, so that the places stay where they are.
  for (const { text, pair, at } of places.sort((a, b) => b.at - a.at)) {
    if (pair === undefined) {
      further.push(text);
      continue;
    }
    const { value } = pair;
    const isEmpty = (isSeq(value) && value.items.length === 0) || (isScalar(value) && value.value === null);
    if (!isEmpty || !value.range) return undefined;
    const rest = edited.slice(value.range[1]);
    edited = `${edited.slice(0, at)}${text.trimEnd()}${rest.startsWith('#') ? ' ' : ''}${rest}`;
  }
  return further.length === 0 ? edited : after(edited.trimEnd(), further.join(''));
}

/** Tells whether a text has exactly the content of a document: it may not where a file is in braces, or indented. */
function saysTheSame(text: string, document: Document.Parsed): boolean {
  const [read, ...more] = parseAllDocuments(text, { schema: 'core', logLevel: 'error' });
  if (read === undefined || more.length > 0 || read.errors.length > 0) return false;
  return isDeepStrictEqual(read.toJS(), document.toJS());
}

/** Writes a document. What the keys add has escapes for invisible characters, as it has in their text. */
function escaped(document: Document.Parsed, added: AddedKey[]): string {
  const texts = added
    .flatMap(({ value }) => (Array.isArray(value) ? value : []))
    .filter((each) => each !== escapeInvisible(each));
  return texts.reduce(
    (whole, text) => whole.replaceAll(JSON.stringify(text), () => escapeInvisible(JSON.stringify(text))),
    document.toString({ lineWidth: 0 }),
  );
}

function commentsIn(file: string): string {
  const lines = file.split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith('#')).join('\n');
}

function after(before: string, text: string): string {
  return before === '' ? text : `${before}\n${text}`;
}

function setKey(document: Document.Parsed, { key, value }: AddedKey): void {
  const known = document.get(key, true);
  if (!Array.isArray(value) && isMap(known)) {
    for (const [name, each] of Object.entries(value)) document.setIn([key, name], each);
    return;
  }
  const node = document.createNode(value);
  for (const item of isSeq(node) ? node.items : [])
    if (isScalar(item) && item.value !== escapeInvisible(String(item.value))) item.type = Scalar.QUOTE_DOUBLE;
  node.commentBefore = (isNode(known) ? (known.commentBefore ?? known.comment) : null) ?? null;
  document.set(key, node);
}

// Runs in a worker thread (repository-settings.ts), because a malicious file could otherwise block the service.
import { type Document, isMap, isNode, parseDocument } from 'yaml';

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
  const text = added.map((each) => each.text).join('');
  // A file without keys may say `null` or `---`, which would contradict what follows.
  if (!isMap(contents)) return after(commentsIn(file), text);
  const isOpen = contents.flow !== true && !/^\.\.\./m.test(file);
  if (isOpen && added.every(({ key }) => !contents.has(key))) return after(file.trimEnd(), text);
  contents.flow = false;
  for (const each of added) setKey(document, each);
  return document.toString({ lineWidth: 0 });
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
  node.commentBefore = (isNode(known) ? (known.commentBefore ?? known.comment) : null) ?? null;
  document.set(key, node);
}

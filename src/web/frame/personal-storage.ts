const prefix = 'deckhand-';
/** What belongs to the browser rather than to the person who uses it. */
const kept = ['deckhand-theme'];

/** Stores a text in this browser. A browser may refuse, for example because its storage is full; nothing is kept then. */
export function storeText(storage: Pick<Storage, 'setItem'>, name: string, text: string): void {
  try {
    storage.setItem(name, text);
  } catch {
    // What is stored here is a convenience. The page works without it.
  }
}

/** Removes drafts, recently opened pages and choices, so that the next person who uses this browser does not see them. */
export function forgetPerson(storage: Storage): void {
  const names = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '');
  for (const name of names) if (name.startsWith(prefix) && !kept.includes(name)) storage.removeItem(name);
}

/**
 * Drafts of what people write, in this browser. They survive reloads, Back and Escape, and are removed when the text is
 * sent, when the person signs out, and after two weeks. Secrets must not be stored here.
 */
const prefix = 'deckhand-draft ';
const maxAgeMs = 14 * 86_400_000;
/** A longer draft is not stored. It is larger than any text that the service accepts. */
const maxCharacters = 120_000;
/** Beyond this number, the oldest drafts are removed. */
const maxDrafts = 50;

interface Stored {
  at: number;
  value: unknown;
}

/** The part of `localStorage` that is used. */
type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const keyOf = (person: string, place: string) => `${prefix}${person} ${place}`;

/**
 * Returns the draft that a person left at a place, in the shape of `initial`. Fields of another type, which an earlier
 * version may have stored, keep their initial values.
 */
export function readDraft<T>(storage: DraftStorage, person: string, place: string, initial: T): T {
  const stored = findStored(storage, person, place);
  return stored === undefined ? initial : inShapeOf(initial, stored.value);
}

/**
 * Returns the fields that a person has changed in a form and not saved. What is no field of `initial`, or has another type, is
 * left out. The fields in `nullable` may have been emptied.
 */
export function readChanges<T extends object>(
  storage: DraftStorage,
  person: string,
  place: string,
  initial: T,
  nullable: readonly string[],
): Partial<T> {
  const changed = Object(findStored(storage, person, place)?.value) as Record<string, unknown>;
  const isUsable = ([name, value]: [string, unknown]) =>
    Object.hasOwn(changed, name) &&
    (isAlike(value, changed[name]) || (changed[name] === null && nullable.includes(name)));
  const fields = Object.entries(initial).filter(isUsable);
  return Object.fromEntries(fields.map(([name]) => [name, changed[name]])) as Partial<T>;
}

function findStored(storage: DraftStorage, person: string, place: string): Stored | undefined {
  const stored = parse(attempt(() => storage.getItem(keyOf(person, place))) ?? null);
  return stored === undefined || isOld(stored) ? undefined : stored;
}

/** Stores a draft. A draft that equals `initial` is removed. A full or forbidden storage is no error. */
export function writeDraft<T>(storage: DraftStorage, person: string, place: string, value: T, initial: T): void {
  const text = JSON.stringify({ at: Date.now(), value } satisfies Stored);
  const isKept = JSON.stringify(value) !== JSON.stringify(initial) && text.length <= maxCharacters;
  if (isKept) attempt(() => storage.setItem(keyOf(person, place), text));
  else removeDraft(storage, person, place);
}

export function removeDraft(storage: DraftStorage, person: string, place: string): void {
  attempt(() => storage.removeItem(keyOf(person, place)));
}

/** Removes drafts that are old, or too many. */
export function removeOldDrafts(storage: DraftStorage): void {
  attempt(() => {
    const names = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '');
    const drafts = names
      .filter((name) => name.startsWith(prefix))
      .map((name) => ({ name, stored: parse(storage.getItem(name)) }))
      .sort((a, b) => (b.stored?.at ?? 0) - (a.stored?.at ?? 0));
    for (const [i, { name, stored }] of drafts.entries())
      if (stored === undefined || isOld(stored) || i >= maxDrafts) storage.removeItem(name);
  });
}

function isOld({ at }: Stored): boolean {
  return !(at > Date.now() - maxAgeMs);
}

function parse(text: string | null): Stored | undefined {
  try {
    const stored = JSON.parse(text ?? 'null') as Stored | null;
    return typeof stored?.at === 'number' ? stored : undefined;
  } catch {
    return undefined;
  }
}

function inShapeOf<T>(initial: T, stored: unknown): T {
  if (typeof initial !== 'object' || initial === null || Array.isArray(initial))
    return isAlike(initial, stored) ? (stored as T) : initial;
  if (typeof stored !== 'object' || stored === null) return initial;
  const found = stored as Record<string, unknown>;
  const fields = Object.entries(initial).map(([name, value]) => [
    name,
    isAlike(value, found[name]) ? found[name] : value,
  ]);
  return Object.fromEntries(fields) as T;
}

/** Returns whether a stored value may replace an initial one. Null stands for a value or a choice that is not made yet. */
function isAlike(initial: unknown, stored: unknown): boolean {
  if (initial === null) return stored === null || ['string', 'number', 'boolean'].includes(typeof stored);
  if (Array.isArray(initial)) return Array.isArray(stored) && stored.every((each) => typeof each === 'string');
  if (typeof initial !== 'object') return typeof stored === typeof initial;
  const parts = Object(stored) as Record<string, unknown>;
  return Object.entries(initial).every(([name, value]) => Object.hasOwn(parts, name) && isAlike(value, parts[name]));
}

/** Browsers may refuse to store anything, for example in private windows. Drafts then last as long as the page. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

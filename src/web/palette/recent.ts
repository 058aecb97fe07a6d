import { storeText } from '../frame/personal-storage.ts';

/** What was opened last, in this browser. It is removed when the person signs out. */
export interface Recent {
  id: string;
  kind: 'project' | 'task' | 'agent' | 'sprint' | 'page';
  text: string;
  to: string;
}

const maxRecent = 20;
const maxText = 200;
const keyOf = (person: string) => `deckhand-recent ${person}`;

/** Returns what the person opened last, the latest first. */
export function listRecent(storage: Pick<Storage, 'getItem'>, person: string): Recent[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(keyOf(person)) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isRecent) : [];
  } catch {
    return [];
  }
}

export function remember(storage: Pick<Storage, 'getItem' | 'setItem'>, person: string, opened: Recent): void {
  const { id, kind, to } = opened;
  const entry = { id, kind, to, text: opened.text.slice(0, maxText) };
  const others = listRecent(storage, person).filter((each) => each.id !== id);
  storeText(storage, keyOf(person), JSON.stringify([entry, ...others].slice(0, maxRecent)));
}

/** Addresses outside of the dashboard are refused, whatever the storage contains. */
function isRecent(value: unknown): value is Recent {
  const found = value as Partial<Recent> | null;
  return (
    typeof found?.id === 'string' &&
    typeof found.kind === 'string' &&
    typeof found.text === 'string' &&
    typeof found.to === 'string' &&
    /^\/(?![/\\])/.test(found.to)
  );
}

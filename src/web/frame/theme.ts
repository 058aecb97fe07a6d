import { storeText } from './personal-storage.ts';

/** Light, dark, or the system's theme. The choice is stored in this browser. */
export type Theme = 'auto' | 'light' | 'dark';

const storageKey = 'deckhand-theme';

export function storedTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

/** Sets the attributes that select Primer's theme on the document element, so that overlays are themed too. */
export function applyTheme(theme: Theme = storedTheme()): void {
  document.documentElement.dataset.colorMode = theme;
  // Scroll bars and the like.
  document.documentElement.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
}

const listeners = new Set<() => void>();

export function storeTheme(theme: Theme): void {
  storeText(localStorage, storageKey, theme);
  applyTheme(theme);
  for (const listener of listeners) listener();
}

/** Calls a function when another theme is stored in this tab. Returns a function that ends this. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

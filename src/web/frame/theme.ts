/** Light, dark, or whatever the system uses. The choice is kept in this browser. */
export type Theme = 'auto' | 'light' | 'dark';

const storageKey = 'deckhand-theme';

export function storedTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

/** Sets the attribute of the document that Primer's themes depend on, so that overlays are themed too. */
export function applyTheme(theme: Theme = storedTheme()): void {
  document.documentElement.dataset.colorMode = theme;
}

export function storeTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme);
  applyTheme(theme);
}

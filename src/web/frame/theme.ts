/** Light or dark: as the system has it, or as the person chose in this browser. */
export type Theme = 'auto' | 'light' | 'dark';

const key = 'deckhand-theme';

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(key);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
}

/** Primer's themes hang on an attribute of the document, so that overlays have them too. */
export function applyTheme(theme: Theme = chosenTheme()): void {
  document.documentElement.dataset.colorMode = theme;
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  applyTheme(theme);
}

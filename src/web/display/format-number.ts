const english = new Intl.NumberFormat('en');

/**
 * Formats a number as `1,234.5`, whatever the language of the browser: the words around it are English, costs are written
 * like this too, and number fields accept no other decimal point.
 */
export function formatNumber(value: number): string {
  return english.format(value);
}

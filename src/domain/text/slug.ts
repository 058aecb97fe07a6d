/**
 * Converts a title to lower-case letters and digits joined by dashes, without accents. Returns an empty string for a
 * title with no letters or digits.
 */
export function slug(title: string, max = 40): string {
  return title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, max)
    .replace(/-+$/, '');
}

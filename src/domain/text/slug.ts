/** A title as lower case letters and digits joined by dashes, without accents. Empty for a title without any. */
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

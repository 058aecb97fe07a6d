/** A title as part of a name: lower case letters and digits joined by dashes, accents taken off; may be empty. */
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

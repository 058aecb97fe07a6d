/**
 * Normalizes a path as the most lenient file system would: to lower case (NTFS, APFS), without the characters that HFS+
 * ignores, and without those that NTFS drops from the end of a name. Two paths that some file system treats as equal
 * become equal.
 */
export function seenAs(path: string): string {
  const letters = /^[\x20-\x7e]*$/.test(path)
    ? path
    : path
        .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
        .normalize('NFKC')
        .toUpperCase();
  const seen = letters.toLowerCase();
  return /:|[ .](?:\/|$)/.test(seen) ? seen.split('/').map(withoutEnd).join('/') : seen;
}

function withoutEnd(name: string): string {
  const [before = ''] = name.split(':');
  // A regular expression would take quadratic time on many spaces followed by another character.
  let end = before.length;
  while (before[end - 1] === ' ' || before[end - 1] === '.') end -= 1;
  return before.slice(0, end);
}

/** Returns whether some file system treats a path as inside the .git folder (core.protectHFS, core.protectNTFS). */
export function isInGitFolder(path: string): boolean {
  const names = seenAs(path).split('/');
  return names.includes('.git') || names.includes('git~1');
}

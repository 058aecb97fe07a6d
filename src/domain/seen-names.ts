/**
 * A path as the least careful file system sees it: in lower case (NTFS, APFS), without the characters that HFS+ passes
 * over, and without what NTFS drops from the end of a name.
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
  const [before = ''] = name.split(':', 1);
  // Not by a pattern: on many blanks with another letter behind them that takes quadratic time.
  let end = before.length;
  while (before[end - 1] === ' ' || before[end - 1] === '.') end -= 1;
  return before.slice(0, end);
}

/** Whether a path lies in what some file system takes for git's own folder (core.protectHFS, core.protectNTFS). */
export function isInGitFolder(path: string): boolean {
  const names = seenAs(path).split('/');
  return names.includes('.git') || names.includes('git~1');
}

/**
 * Text of people or of a model, made harmless for a comment or a pull request: it mentions nobody, closes and links no
 * issue, runs no command and leaves no HTML comment open. It reads the same.
 */
export function harmless(text: string, commandPrefix: string): string {
  const joiner = '\u2060';
  return text
    .replace(/&(?=#\d+;|#x[0-9a-f]+;|[a-z]+;)/gi, '&amp;')
    .replace(/<!--/g, '&lt;!--')
    .replace(/\b(clos|fix|resolv)(?=(?:e[sd]?|es|ed)?:?\s+(?:[\w.-]+\/[\w.-]+)?(?:#|GH-|https?:))/gi, `$1${joiner}`)
    .replace(/@(?=[A-Za-z0-9_])/g, `@${joiner}`)
    .replace(/#(?=\d)/g, `#${joiner}`)
    .replace(/\bGH-(?=\d)/gi, (found) => found + joiner)
    .replace(new RegExp(`(^|\\n)([^\\S\\n]*)(?=${commandPrefix})`, 'gi'), `$1$2${joiner}`);
}

/** One line of at most `max` characters; a cut shows. */
export function oneLine(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).trimEnd()}…`;
}

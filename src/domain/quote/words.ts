/** At most this many words of a text are compared. */
const mostWords = 80;
/** Shorter words are in too many texts. */
const shortest = 3;

/** Returns the words of a text, in lower case. Paths of files count as one word and by their parts. */
export function namesIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const name of text.toLowerCase().match(/[\p{L}\p{N}_./-]{1,100}/gu) ?? []) {
    if (found.size >= mostWords) break;
    if (name.length >= shortest) found.add(name);
    for (const part of name.split(/[./-]/)) if (part.length >= shortest) found.add(part);
  }
  return found;
}

// Part of the tool host: it runs inside the sandbox and imports nothing.

/**
 * Typical mistakes of models that copy text: the name of the difference, and a way to compare lines that ignores it.
 */
const tolerances = [
  ['the line ending', (line) => line.replace(/\r$/, '')],
  ['trailing whitespace', (line) => line.trimEnd()],
  ['the indentation', (line) => line.trim()],
];

/**
 * Replaces whole lines that match except for line endings, trailing blanks or indentation, if exactly one place
 * matches.
 */
export function editLoosely(text, old, replacement) {
  const lines = text.split('\n');
  const wanted = old.replace(/\r?\n$/, '').split('\n');
  for (const [difference, plain] of tolerances) {
    const keys = wanted.map(plain);
    const found = lines.flatMap((_, at) => (keys.every((key, i) => plain(lines[at + i] ?? '\0') === key) ? [at] : []));
    if (found.length > 1)
      return {
        problem: `old occurs ${found.length} times when ${difference} is ignored; include more of the lines around it`,
      };
    if (found.length === 0 || keys.every((key) => key === '')) continue;
    const [at] = found;
    const indentOf = (line) => /^[ \t]*/.exec(line)[0];
    const first = keys.findIndex((key) => key !== '');
    const [from, to] = [indentOf(wanted[first]), indentOf(lines[at + first])];
    const ending = lines[at].endsWith('\r') ? '\r' : '';
    const made = replacement === '' ? [] : replacement.replace(/\r?\n$/, '').split(/\r?\n/);
    const placed = made.map((line) => (line.startsWith(from) ? to + line.slice(from.length) : line) + ending);
    return { changed: [...lines.slice(0, at), ...placed, ...lines.slice(at + wanted.length)].join('\n'), difference };
  }
  return { problem: 'old does not occur in the file; read it again and copy it exactly' };
}

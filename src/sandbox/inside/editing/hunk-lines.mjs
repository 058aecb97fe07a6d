/** Parses `@@ function name` and `@@ -1,2 +1,3 @@ function name`. The rest of such a line is only a hint of git's. */
export function anchorOf(line) {
  const [, number, count] = /^@@+ -(\d+)(?:,(\d+))?/.exec(line) ?? [];
  if (number !== undefined) return { line: Number(number), isInsertion: count === '0' };
  const anchor = line.replace(/^@@ ?/, '').replace(/ *@@$/, '');
  return anchor.trim() === '' ? {} : { anchor };
}

/** Splits a line of a hunk into its mark and its text. An empty line, or one without a mark, is context. */
export function marked(line) {
  return /^[ +-]/.test(line) ? { mark: line[0], text: line.slice(1) } : { mark: ' ', text: line, isBare: line === '' };
}

/** Removes empty lines at the end of a hunk, which only separate it from what follows. */
export function dropBlankEnd({ lines }) {
  while (lines.length > 0 && lines.at(-1).isBare) lines.pop();
}

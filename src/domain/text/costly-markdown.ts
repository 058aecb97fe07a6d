/** Marks of emphasis. The parser compares each with those before it; long texts of people have one or two thousand. */
const maxEmphasis = 8000;

/** Quotes and lists inside of each other. The parser calls itself for each. */
const maxDepth = 50;

/** Cells of a table. It fills up its rows, so 200 columns and lines of one character make millions. */
const maxCells = 30_000;

/**
 * Returns whether formatting a text as Markdown could take long. 64 kB can be made to take half a minute, so such a text is shown as it
 * was written.
 */
export function isCostlyMarkdown(text: string): boolean {
  const lines = text.split('\n');
  return (
    countOf(text, '*_~') > maxEmphasis || lines.some((line) => depthOf(line) > maxDepth) || cellsOf(lines) > maxCells
  );
}

function countOf(text: string, chars: string): number {
  let count = 0;
  for (const char of text) if (chars.includes(char)) count += 1;
  return count;
}

/** Returns how many quotes and lists begin in a line. */
function depthOf(line: string): number {
  let depth = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    const isSpaced = /\s/.test(line.charAt(at + 1));
    if (char === '>' || ('-+*.)'.includes(char) && isSpaced)) depth += 1;
    else if (!/[\s\d]/.test(char)) break;
  }
  return depth;
}

/** Returns how many cells the tables have at most: a line of dashes says how many columns its table has. */
function cellsOf(lines: string[]): number {
  let [columns, cells] = [0, 0];
  for (const line of lines) {
    if (line.includes('-') && /^[\s>|:-]+$/.test(line)) columns = Math.max(columns, line.split('|').length);
    if (line.trim() === '') columns = 0;
    cells += columns;
  }
  return cells;
}

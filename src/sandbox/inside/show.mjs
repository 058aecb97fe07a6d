import { limits } from './tool-error.mjs';

/** Context around a changed place, and how many lines of all places together are shown. */
const [contextLines, maxShown] = [3, 80];

function cutLine(line) {
  return line.length > limits.lineChars ? `${line.slice(0, limits.lineChars)}[…]` : line;
}

/** Writes lines with their numbers, as `cat -n` does. `first` is the number of the first. */
export function numbered(lines, first) {
  return lines.map((line, i) => `${String(first + i).padStart(6)}\t${cutLine(line)}`);
}

/** Splits a text into lines. The line ending of the last line does not begin another one. */
export function linesOf(text) {
  const lines = text.split(/\r?\n/);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

/** Shows the places of a new text that were changed, with some context. Each place is a range of lines, from 0. */
export function changedPlaces(text, places) {
  const lines = linesOf(text);
  const blocks = [];
  for (const { from, to } of places) {
    const block = { from: Math.max(0, from - contextLines), to: Math.min(lines.length, to + contextLines) };
    const last = blocks.at(-1);
    if (last !== undefined && block.from <= last.to) last.to = Math.max(last.to, block.to);
    else blocks.push(block);
  }
  const shown = [];
  for (const { from, to } of blocks) {
    if (shown.length >= maxShown) break;
    if (shown.length > 0) shown.push('   ...');
    shown.push(...shorten(numbered(lines.slice(from, to), from + 1), maxShown - shown.length));
  }
  return fitting(shown).join('\n');
}

/** Keeps the first and the last lines of a long list. */
function shorten(lines, most) {
  if (lines.length <= most) return lines;
  const half = Math.max(1, Math.floor(most / 2));
  return [...lines.slice(0, half), `   ... ${lines.length - 2 * half} more lines ...`, ...lines.slice(-half)];
}

/** Returns the first lines that fit into an answer. */
export function fitting(lines, chars = limits.outputChars - 1000) {
  let left = chars;
  const end = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  return end < 0 ? lines : lines.slice(0, Math.max(1, end));
}

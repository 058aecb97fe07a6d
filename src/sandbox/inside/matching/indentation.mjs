const widthOf = (indent) => indent.length;
export const indentOf = (line) => /^[ \t]*/.exec(line)[0];

/** Returns how a file indents: by tabs, or by a number of spaces. */
export function styleOf(lines) {
  const indents = lines
    .slice(0, 5000)
    .filter((line) => line.trim() !== '')
    .map(indentOf);
  const tabs = indents.filter((indent) => indent.startsWith('\t')).length;
  const spaced = indents.filter((indent) => indent.startsWith(' '));
  if (tabs > spaced.length) return { char: '\t', size: 1 };
  return { char: ' ', size: smallestStep(spaced) ?? 4 };
}

/** Returns the smallest difference between two of these indents, leaving out one space, which aligns comments. */
function smallestStep(indents) {
  const widths = [...new Set([0, ...indents.map(widthOf)])].sort((a, b) => a - b);
  const steps = widths.slice(1).map((width, i) => width - widths[i]);
  const real = steps.filter((step) => step > 1);
  return real.length > 0 ? Math.min(...real) : steps[0];
}

/**
 * Returns a function that translates the indentation that a model wrote into that of the file, or undefined if the pairs
 * `[written, inFile]` do not agree on one. Tries, in this order: the same, a constant shift, and levels of another width.
 */
export function translation(pairs, written, style) {
  const [first] = pairs;
  if (first === undefined) return (indent) => indent;
  const [from, to] = first;
  if (to.endsWith(from)) {
    const added = to.slice(0, to.length - from.length);
    if (pairs.every(([a, b]) => b === added + a)) return (indent) => added + indent;
  }
  if (from.endsWith(to)) {
    const removed = from.slice(0, from.length - to.length);
    if (pairs.every(([a, b]) => a === removed + b))
      return (indent) => (indent.startsWith(removed) ? indent.slice(removed.length) : '');
  }
  return levels(pairs, written, style);
}

/** Translates by counting levels: two levels of two spaces become two tabs. */
function levels(pairs, written, style) {
  const inFile = pairs.map(([, indent]) => levelOf(indent, style.char, style.size));
  if (inFile.some((level) => level === undefined)) return undefined;
  const used = [...pairs.map(([indent]) => indent), ...written];
  const char = used.some((indent) => indent.startsWith('\t')) ? '\t' : ' ';
  for (const size of new Set([smallestStep(used) ?? 1, ...(char === '\t' ? [1] : [4, 2, 8, 3])])) {
    const asWritten = pairs.map(([indent]) => levelOf(indent, char, size));
    const offset = inFile[0] - asWritten[0];
    const isSame = asWritten.every((level, i) => level !== undefined && inFile[i] - level === offset);
    if (!isSame || written.some((indent) => levelOf(indent, char, size) === undefined)) continue;
    return (indent) => style.char.repeat(Math.max(0, (levelOf(indent, char, size) + offset) * style.size));
  }
  return undefined;
}

/** Returns the level of an indent, or undefined if it is not made of whole levels. */
function levelOf(indent, char, size) {
  const level = indent.length / size;
  return Number.isInteger(level) && indent === char.repeat(indent.length) ? level : undefined;
}

/** Returns how many characters differ between two short strings (Levenshtein). */
export function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, char] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(Math.min(row[j] + (char === other ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row.at(-1);
}

/** Only this much of a line and this many lines are compared. */
const [lineChars, maxLines] = [300, 20_000];
const leastResemblance = 0.5;

function pairsOf(line) {
  const text = line.trim().slice(0, lineChars);
  return new Set(Array.from({ length: Math.max(text.length - 1, 0) }, (_, i) => text.slice(i, i + 2)));
}

/** Returns which share of the pairs of characters two lines have in common. */
function resemblance(a, b) {
  if (a.size + b.size === 0) return 0;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common += 1;
  return (2 * common) / (a.size + b.size);
}

/**
 * Finds the place in a file that resembles the wanted lines most, by their longest line. Returns the index of the line
 * at which they would begin, or undefined if nothing resembles them.
 */
export function nearestLines(lines, wanted) {
  const longest = wanted.reduce((best, line, i) => (line.trim().length > wanted[best].trim().length ? i : best), 0);
  const pairs = pairsOf(wanted[longest]);
  let [best, at] = [leastResemblance, undefined];
  for (const [i, line] of lines.slice(0, maxLines).entries()) {
    const score = resemblance(pairs, pairsOf(line));
    if (score > best) [best, at] = [score, i];
  }
  return at === undefined ? undefined : Math.max(0, at - longest);
}

// Finds text and lines as models misquote them. Everything here takes time proportional to the size of the file, because
// a hostile file or quotation must not stop the tools.

/** Characters that look like an ASCII character, of the same length, so that positions stay the same. */
const lookAlikes = new Map(
  Object.entries({
    "'": '\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc\uff07',
    '"': '\u201c\u201d\u201e\u201f\u2033\uff02',
    '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d',
    ' ': '\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
    ':': '\uff1a',
    ';': '\uff1b',
    ',': '\uff0c',
    '(': '\uff08',
    ')': '\uff09',
  }).flatMap(([plain, others]) => [...others].map((other) => [other, plain])),
);
const anyLookAlike = new RegExp(`[${[...lookAlikes.keys()].join('')}]`, 'g');

/** Replaces characters that look like ASCII by the ASCII characters. The length stays the same. */
export function plain(text) {
  return text.replace(anyLookAlike, (char) => lookAlikes.get(char));
}

/** Ways to compare lines, from strict to tolerant. Each ignores what those before it ignore. */
export const tolerances = [
  ['nothing', (line) => line],
  ['the line ending', (line) => line.replace(/\r$/, '')],
  ['trailing whitespace', (line) => line.trimEnd()],
  ['look-alike characters', (line) => plain(line).trimEnd()],
  ['the indentation', (line) => plain(line).trim()],
  ['the width of spaces', (line) => plain(line).trim().replace(/\s+/g, ' ')],
];

/** Returns where a sequence begins in another one (Knuth, Morris and Pratt), at most `most` places. */
export function occurrences(items, wanted, most = 50) {
  if (wanted.length === 0 || wanted.length > items.length) return [];
  const fallback = new Int32Array(wanted.length);
  /** Returns how much of the sequence fits once an item follows `length` items that fit. */
  const fitting = (length, item) => {
    let left = length;
    while (left > 0 && item !== wanted[left]) left = fallback[left - 1];
    return item === wanted[left] ? left + 1 : left;
  };
  for (let i = 1; i < wanted.length; i++) fallback[i] = fitting(fallback[i - 1], wanted[i]);
  const found = [];
  for (let i = 0, length = 0; i < items.length && found.length < most; i++) {
    length = fitting(length, items[i]);
    if (length < wanted.length) continue;
    found.push(i - length + 1);
    length = fallback[length - 1];
  }
  return found;
}

/** Returns where a text occurs without overlap, at most `most` places. */
export function placesOf(text, wanted, most = Number.POSITIVE_INFINITY) {
  // The engine's own search is faster, but in the worst case its time grows with the product of both lengths.
  if (text.length * Math.min(wanted.length, 1000) < 10_000_000) {
    const places = [];
    for (let at = text.indexOf(wanted); at >= 0 && places.length < most; at = text.indexOf(wanted, at + wanted.length))
      places.push(at);
    return places;
  }
  let end = 0;
  const apart = occurrences(text, wanted, Number.POSITIVE_INFINITY).filter((at) => {
    if (at < end) return false;
    end = at + wanted.length;
    return true;
  });
  return apart.slice(0, most);
}

/**
 * Finds lines in a file with the strictest tolerance at which they occur. `places` are indexes of lines; `difference`
 * is what differed. Lines that are all blank are not found, because they would fit anywhere.
 */
export function findLines(lines, wanted, { from = 0, strictest = 0 } = {}) {
  for (const [difference, keyOf] of tolerances.slice(strictest)) {
    const keys = wanted.map(keyOf);
    if (keys.every((key) => key === '')) break;
    const places = occurrences(lines.slice(from).map(keyOf), keys).map((at) => at + from);
    if (places.length > 0) return { places, difference };
  }
  return { places: [], difference: '' };
}

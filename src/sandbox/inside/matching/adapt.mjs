import { indentOf, styleOf, translation } from './indentation.mjs';
import { plain } from './matching.mjs';

/**
 * Writes the new lines of an edit as the file has them: lines that the edit keeps stay exactly as they are in the file,
 * and the others get the file's indentation and characters. Returns undefined if the indentation is not clear.
 *
 * @param inFile the lines of the file that are replaced
 * @param old the same lines as the model quoted them
 * @param made the lines that the model wrote in their place
 * @param all all lines of the file
 */
export function adapt({ inFile, old, made, all }) {
  const kept = pairUp(old, made);
  const changed = made.filter((line, i) => kept[i] === undefined && line.trim() !== '').map(indentOf);
  const pairs = old.flatMap((line, i) => (line.trim() === '' ? [] : [[indentOf(line), indentOf(inFile[i])]]));
  const translate = translation(pairs, changed, styleOf(all));
  const ending = inFile.every((line) => line.endsWith('\r')) ? '\r' : '';
  const lines = made.map((line, i) => {
    if (kept[i] !== undefined) return inFile[kept[i]];
    if (line.trim() === '') return line.trimEnd() + ending;
    const twin = old.length === made.length ? i : undefined;
    const indent = indentFor(line, { translate, twin, old, inFile });
    const body = line.slice(indentOf(line).length).replace(/\r$/, '');
    const like = twin === undefined ? body : carryOver(inFile[twin].trim(), old[twin].trim(), body);
    return indent === undefined ? undefined : indent + asInFile(like, { inFile, old }) + ending;
  });
  return lines.includes(undefined) ? undefined : lines;
}

/** Returns the indent of a changed line. Without a translation it is that of the line in the same place. */
function indentFor(line, { translate, twin, old, inFile }) {
  if (translate !== undefined) return translate(indentOf(line));
  return twin !== undefined && indentOf(old[twin]) === indentOf(line) ? indentOf(inFile[twin]) : undefined;
}

/** For each new line returns the index of the old line that it repeats, or undefined. Indexes only grow. */
function pairUp(old, made) {
  const pairs = new Array(made.length).fill(undefined);
  const shorter = Math.min(old.length, made.length);
  let head = 0;
  while (head < shorter && old[head] === made[head]) {
    pairs[head] = head;
    head += 1;
  }
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === made.at(-1 - tail)) {
    pairs[made.length - 1 - tail] = old.length - 1 - tail;
    tail += 1;
  }
  const left = new Map();
  for (let i = old.length - tail - 1; i >= head; i--) left.set(old[i], [...(left.get(old[i]) ?? []), i].slice(-50));
  let last = head - 1;
  for (let i = head; i < made.length - tail; i++) {
    const next = made[i].trim() === '' ? undefined : left.get(made[i])?.findLast((at) => at > last);
    if (next === undefined) continue;
    pairs[i] = next;
    last = next;
  }
  return pairs;
}

/** Takes the file's own characters where a new line begins and ends like the old one. */
export function carryOver(inFile, old, made) {
  if (inFile === old || inFile.length !== old.length || plain(inFile) !== plain(old)) return made;
  const shorter = Math.min(old.length, made.length);
  let head = 0;
  while (head < shorter && old[head] === made[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === made.at(-1 - tail)) tail += 1;
  return inFile.slice(0, head) + made.slice(head, made.length - tail) + inFile.slice(inFile.length - tail);
}

/**
 * Where a model wrote a look-alike for an ASCII character of the file, for example a typographic quotation mark, undoes
 * that in the new text too.
 */
export function asInFile(text, { inFile, old }) {
  const [original, quoted] = [inFile, old].map((part) =>
    Array.isArray(part) ? part.map((l) => l.trim()).join('\n') : part,
  );
  if (original.length !== quoted.length) return text;
  const ascii = new Map();
  for (let i = 0; i < quoted.length; i++) {
    const [char, real] = [quoted[i], original[i]];
    if (char === real || plain(char) !== real) continue;
    ascii.set(char, real);
  }
  return ascii.size === 0 ? text : [...text].map((char) => ascii.get(char) ?? char).join('');
}

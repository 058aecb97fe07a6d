import { adapt } from '../matching/adapt.mjs';
import { indentOf } from '../matching/indentation.mjs';
import { findLines } from '../matching/matching.mjs';
import { nearestLines } from '../matching/resemblance.mjs';
import { numbered } from '../show.mjs';
import { ToolError } from '../tool-error.mjs';

const quotedLines = 15;
/** Limits the lines of a file times the hunks, because each hunk is searched in the whole file. */
const maxSearched = 10_000_000;

/** Applies the hunks of a patch to a text, from the top to the bottom. */
export function patchedLines(text, hunks, path) {
  const endsWithNewline = text.endsWith('\n') || text === '';
  const original = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  if (hunks.length * original.length > maxSearched)
    throw new ToolError(`${hunks.length} hunks are too many for ${path}; send several smaller patches`);
  const result = { lines: [...original], cursor: 0, grown: 0, places: [], notes: new Set(), isEnded: endsWithNewline };
  for (const hunk of hunks) applyHunk(result, hunk, { path, original });
  const end = result.isEnded && result.lines.length > 0 ? '\n' : '';
  return { text: result.lines.join('\n') + end, places: result.places, notes: [...result.notes] };
}

function applyHunk(result, hunk, { path, original }) {
  const old = hunk.lines.filter(({ mark }) => mark !== '+').map(({ text }) => text);
  const { at, count, difference } = old.length === 0 ? insertion(result, hunk, path) : placeOf(result, hunk, old, path);
  const inFile = result.lines.slice(at, at + count);
  const made = madeLines(hunk, { inFile, old, all: original }, path);
  result.lines.splice(at, count, ...made);
  if (difference !== 'nothing') result.notes.add(difference);
  result.places.push(changedPart(hunk, at));
  result.cursor = at + made.length;
  result.grown += made.length - count;
  const last = hunk.lines.findLast(({ mark }) => mark !== '-');
  if (result.cursor === result.lines.length && last?.mark === '+') result.isEnded = last.isUnended !== true;
}

/** Returns the lines of the new file that the hunk changes, without its context. */
function changedPart({ lines }, at) {
  const kept = lines.filter(({ mark }) => mark !== '-');
  const first = lines.findIndex(({ mark }) => mark !== ' ');
  const tail = lines.length - 1 - lines.findLastIndex(({ mark }) => mark !== ' ');
  return { from: at + Math.max(0, first), to: at + Math.max(kept.length - tail, first) };
}

/** Writes the lines that replace the old ones: context as it is in the file, new lines in its indentation. */
function madeLines({ lines }, { inFile, old, all }, path) {
  const isExact = old.every((line, i) => line === inFile[i]);
  const made = lines.filter(({ mark }) => mark !== '-');
  if (isExact) return made.map(({ text }) => text);
  const adapted = adapt({ inFile, old, made: made.map(({ text }) => text), all });
  if (adapted === undefined)
    throw new ToolError(
      `${path}: the indentation of a hunk is not that of the file:\n${numbered(inFile, 1).join('\n')}`,
    );
  // Context lines stay as they are, even if the same line was both removed and added elsewhere.
  let at = -1;
  const contexts = lines.flatMap(({ mark }) => {
    if (mark !== '+') at += 1;
    return mark === '-' ? [] : [mark === ' ' ? at : undefined];
  });
  return adapted.map((line, i) => (contexts[i] === undefined ? line : inFile[contexts[i]]));
}

/** Finds the one place where the old lines of a hunk are. */
function placeOf(result, hunk, old, path) {
  const after = hunk.anchor === undefined ? result.cursor : anchored(result, hunk.anchor, path);
  // Hunks are in the order of the file. One that is out of order is still clear if its lines occur once.
  const below = findLines(result.lines, old, { from: after });
  const { places, difference } = below.places.length > 0 || after === 0 ? below : findLines(result.lines, old);
  const one = (at) => ({ at, count: old.length, difference });
  if (places.length === 1) return one(places[0]);
  if (places.length === 0) throw new ToolError(notFound(result, old, path));
  // Several places fit. The hunk itself may say which is meant.
  if (hunk.atEnd && places.at(-1) + old.length === result.lines.length) return one(places.at(-1));
  const expected = hunk.line === undefined ? -1 : hunk.line - 1 + result.grown;
  if (places.includes(expected)) return one(expected);
  const inBlock = hunk.anchor === undefined ? [] : places.filter((at) => at < blockEnd(result.lines, after));
  if (inBlock.length === 1) return one(inBlock[0]);
  const lines = places.slice(0, 5).map((at) => at + 1);
  throw new ToolError(
    `a hunk fits in ${places.length} places of ${path} (lines ${lines.join(', ')}); add more lines of context`,
  );
}

/** Returns the index after the line that an anchor names. Only one line may equal it or, if none does, contain it. */
function anchored({ lines, cursor }, anchor, path) {
  const below = findLines(lines, [anchor], { from: cursor }).places;
  const places = below.length > 0 ? below : findLines(lines, [anchor]).places;
  if (places.length === 1) return places[0] + 1;
  const parts = lines.flatMap((line, i) => (i >= cursor && line.includes(anchor.trim()) ? [i] : []));
  if (places.length === 0 && parts.length === 1) return parts[0] + 1;
  // An anchor only narrows the search. If it does not, the lines of the hunk must be enough.
  if (places.length === 0 && parts.length === 0) return cursor;
  const found = places.length > 0 ? places : parts;
  throw new ToolError(`"@@ ${anchor.trim()}" fits ${found.length} lines of ${path}; use a line that occurs once`);
}

/** Returns where the block ends that begins before a line: at the next line that is indented no deeper. */
function blockEnd(lines, from) {
  const depth = indentOf(lines[from - 1] ?? '').length;
  const end = lines.findIndex((line, i) => i >= from && /^\s*[\w@]/.test(line) && indentOf(line).length <= depth);
  return end < 0 ? lines.length : end;
}

/** Returns where a hunk without old lines belongs: at a line number, after its anchor, or at the end. */
function insertion(result, hunk, path) {
  const place = (at) => ({ at, count: 0, difference: 'nothing' });
  if (result.lines.length === 0 || hunk.atEnd) return place(result.lines.length);
  if (hunk.isInsertion && hunk.line + result.grown <= result.lines.length) return place(hunk.line + result.grown);
  if (hunk.anchor !== undefined) {
    const at = anchored(result, hunk.anchor, path);
    if (at !== result.cursor) return place(at);
  }
  throw new ToolError(`a hunk for ${path} has only new lines; add the lines before or after them as context`);
}

function notFound({ lines }, old, path) {
  const near = nearestLines(lines, old);
  if (near === undefined) return `the old lines of a hunk do not occur in ${path}; read the file and copy them exactly`;
  const from = Math.max(0, near - 2);
  return `the old lines of a hunk do not occur in ${path}. The most similar lines are:\n${numbered(lines.slice(from, from + quotedLines), from + 1).join('\n')}`;
}

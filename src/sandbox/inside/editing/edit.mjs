import { lstat, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { editableText, missing, save } from '../files.mjs';
import { adapt, asInFile, carryOver } from '../matching/adapt.mjs';
import { findLines, placesOf, plain } from '../matching/matching.mjs';
import { withoutBlankLines, withoutEscapes, withoutFence, withoutNumbers } from '../matching/quotation.mjs';
import { nearestLines } from '../matching/resemblance.mjs';
import { exists, inside, meantPath, writablePath } from '../paths.mjs';
import { changedPlaces, numbered } from '../show.mjs';
import { limits, ToolError } from '../tool-error.mjs';

/** How many lines of a file are quoted when an edit does not fit. */
const quotedLines = 15;

export async function writeFile(root, { path: given, content, isNew = false }) {
  if (Buffer.byteLength(content) > limits.fileBytes)
    throw new ToolError(`content has more than ${limits.fileBytes} bytes`);
  if (/^ {5}1\t/.test(content) && withoutNumbers(content, '') !== undefined)
    throw new ToolError('content begins with the line numbers that read_file shows; send it without them');
  const path = await writablePath(root, given);
  if (isNew && (await exists(root, path)))
    throw new ToolError(`${path} exists already; use edit_file to change it, or write_file to replace the whole file`);
  const before = (await exists(root, path)) ? await editableText(root, path).catch(() => undefined) : undefined;
  const keepsEndings =
    before !== undefined && withUnixEndings(before.text).ending === '\r\n' && !content.includes('\r');
  await save(await inside(root, path), keepsEndings ? content.replaceAll('\n', '\r\n') : content);
  const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
  const note = keepsEndings ? '; its line endings stay CRLF' : '';
  return `wrote ${path} (${lines} ${lines === 1 ? 'line' : 'lines'}${note})`;
}

export async function deleteFile(root, { path: given }) {
  const path = (await meantPath(root, given)).replace(/\/+$/, '');
  // Delete a link itself, not its target: only the parent folder is resolved.
  const real = join(await inside(root, dirname(path)), basename(path));
  const found = await lstat(real).catch(() => undefined);
  if (found === undefined) throw new ToolError(await missing(root, path));
  if (found.isDirectory()) throw new ToolError(`${path} is a folder; delete its files instead`);
  // A command may have replaced a folder with a link since the first check.
  await inside(root, dirname(path));
  await rm(real);
  return `deleted ${path}`;
}

/** Replaces one or several texts in a file, all or none. Each edit sees the result of those before it. */
export async function editFile(root, { path: given, edits, ...single }) {
  const path = await meantPath(root, given);
  const all = edits ?? [single];
  if (!(await exists(root, path)) && all.length === 1 && all[0].old === '')
    return writeFile(root, { path: given, content: all[0].new });
  const { real, text } = await editableText(root, path);
  const { body, ending } = withUnixEndings(text);
  let result = { text: body, places: [], notes: [] };
  for (const edit of all) result = joined(result, replaceIn(result.text, edit, { path, ending }));
  if (Buffer.byteLength(result.text) > limits.fileBytes)
    throw new ToolError(`${path} would have more than ${limits.fileBytes} bytes`);
  await save(real, ending === '\r\n' ? result.text.replaceAll('\n', '\r\n') : result.text);
  const count = result.places.length;
  const notes =
    result.notes.length === 0 ? '' : `; ${[...new Set(result.notes)].join(', ')} differed from old and was kept`;
  return `changed ${path} (${count} ${count === 1 ? 'place' : 'places'}${notes})\n${changedPlaces(result.text, result.places)}`;
}

/** Adds lines after a line of a file; 0 adds them before the first. */
export async function insertLines(root, { path: given, line, text: added }) {
  const path = await meantPath(root, given);
  const { real, text } = await editableText(root, path);
  const { body, ending } = withUnixEndings(text);
  const lines = body.split('\n');
  const count = lines.length - (body.endsWith('\n') ? 1 : 0);
  if (line > count) throw new ToolError(`${path} has only ${count} lines`);
  const made = added.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n');
  lines.splice(line, 0, ...made);
  const after = lines.join('\n');
  await save(real, ending === '\r\n' ? after.replaceAll('\n', '\r\n') : after);
  return `changed ${path} (1 place)\n${changedPlaces(after, [{ from: line, to: line + made.length }])}`;
}

/** Returns a text with `\n`, and its own line ending if all its lines end alike. */
export function withUnixEndings(text) {
  const ends = text.split('\n').length - 1;
  const crlf = text.split('\r\n').length - 1;
  if (crlf === 0 && !text.includes('\r')) return { body: text, ending: '\n' };
  if (crlf !== ends || text.split('\r').length - 1 !== crlf) return { body: text, ending: undefined };
  return { body: text.replaceAll('\r\n', '\n'), ending: '\r\n' };
}

/** Adds an edit to the earlier ones of the same file, whose places move when the edit is above them. */
function joined(before, { text, places, note }) {
  const grown = text.split('\n').length - before.text.split('\n').length;
  const moved = before.places.map(({ from, to }) =>
    from >= (places[0]?.from ?? 0) ? { from: from + grown, to: to + grown } : { from, to },
  );
  const all = [...moved, ...places].sort((a, b) => a.from - b.from);
  return { text, places: all, notes: note === undefined ? before.notes : [...before.notes, note] };
}

/** Replaces one text. Tries it as it is written first, then with the differences that models make. */
function replaceIn(text, edit, { path, ending }) {
  const unix = (part) => (ending === undefined ? part : part.replaceAll('\r\n', '\n'));
  const [old, made] = [unix(edit.old), unix(edit.new)];
  if (old === '') throw new ToolError('old must not be empty; use write_file to replace the whole file');
  if (old === made) throw new ToolError('old and new are the same, so there is nothing to change');
  const exact = replaceExactly(text, old, made, { path, replaceAll: edit.replaceAll });
  if (exact !== undefined) return exact;
  const spellings = [{ old, made }];
  for (const undo of [withoutNumbers, withoutFence, withoutEscapes, withoutBlankLines]) {
    const spelling = undo(old, made);
    if (spelling !== undefined) spellings.push(spelling);
  }
  for (const spelling of spellings) {
    if (spelling.problem !== undefined) throw new ToolError(`${path}: ${spelling.problem}`);
    const found =
      (spelling.old === old ? undefined : replaceExactly(text, spelling.old, spelling.made, { path })) ??
      replaceLookAlike(text, spelling, path) ??
      replaceLines(text, spelling, path);
    if (found !== undefined) return { ...found, note: found.note ?? spelling.difference };
  }
  throw new ToolError(whyNot(text, { old, made }, path));
}

function replaceExactly(text, old, made, { path, replaceAll = false }) {
  const places = placesOf(text, old);
  if (places.length === 0) return undefined;
  if (places.length > 1 && !replaceAll) throw new ToolError(severalTimes(text, places, path));
  const size = text.length + places.length * (made.length - old.length);
  if (size > limits.fileBytes)
    throw new ToolError(`${path} would have ${size} characters, more than ${limits.fileBytes}`);
  return spliced(
    text,
    places.map((at) => ({ at, length: old.length, made })),
  );
}

/** Replaces a text that occurs once if characters that look alike count as the same. */
function replaceLookAlike(text, { old, made }, path) {
  const places = placesOf(plain(text), plain(old), 2);
  if (places.length > 1) throw new ToolError(severalTimes(text, places, path));
  const [at] = places;
  if (at === undefined) return undefined;
  const inFile = text.slice(at, at + old.length);
  const like = asInFile(carryOver(inFile, old, made), { inFile, old });
  return { ...spliced(text, [{ at, length: old.length, made: like }]), note: 'look-alike characters' };
}

/** Replaces whole lines that occur once if some difference is ignored. */
function replaceLines(text, { old, made }, path) {
  const lines = text.split('\n');
  const wanted = old.replace(/\r?\n$/, '').split('\n');
  const { places, difference } = findLines(lines, wanted);
  if (places.length > 1) {
    const at = places.slice(0, 5).map((line) => line + 1);
    throw new ToolError(
      `old occurs ${places.length} times in ${path} when ${difference} is ignored (lines ${at.join(', ')}); include more of the lines around it`,
    );
  }
  const [from] = places;
  if (from === undefined) return undefined;
  const inFile = lines.slice(from, from + wanted.length);
  const written = made === '' ? [] : made.replace(/\r?\n$/, '').split('\n');
  const placed = adapt({ inFile, old: wanted, made: written, all: lines });
  if (placed === undefined)
    throw new ToolError(
      `${path}: the indentation of old is not that of the file; copy these lines:\n${quoted(lines, from)}`,
    );
  lines.splice(from, wanted.length, ...placed);
  return { text: lines.join('\n'), places: [{ from, to: from + placed.length }], note: difference };
}

/** Replaces parts of a text and returns the lines that changed. */
function spliced(text, parts) {
  let result = '';
  let end = 0;
  let line = 0;
  const places = parts.map(({ at, length, made }) => {
    const before = text.slice(end, at);
    line += before.split('\n').length - 1;
    const from = line;
    result += before + made;
    line += made.split('\n').length - 1;
    end = at + length;
    return { from, to: line + 1 };
  });
  return { text: result + text.slice(end), places };
}

function severalTimes(text, places, path) {
  const lines = places.slice(0, 5).map((at) => text.slice(0, at).split('\n').length);
  return `old occurs ${places.length} times in ${path} (lines ${lines.join(', ')}); include more of the lines around it, or set replaceAll`;
}

const quoted = (lines, from) => numbered(lines.slice(from, from + quotedLines), from + 1).join('\n');

/** Explains why an edit does not fit, and shows the lines that were probably meant. */
function whyNot(text, { old, made }, path) {
  const lines = text.split('\n');
  const wanted = old.split('\n');
  const applied = made.trim().length > 10 ? placesOf(text, made, 2) : [];
  if (applied.length === 1)
    return `old does not occur in ${path}, but new does, at line ${text.slice(0, applied[0]).split('\n').length}; was the change made before?`;
  if (wanted.some((line) => /^\s*(?:\/\/|#|\/\*|--)?\s*\.\.\.[\w ]*\.*\s*(?:\*\/)?$/.test(line.slice(0, 100))))
    return `old contains "...", which does not occur in ${path}; quote the lines that you replace completely`;
  const near = nearestLines(lines, wanted);
  if (near === undefined) return `old does not occur in ${path}; read the file again and copy the lines exactly`;
  return `old does not occur in ${path}. The most similar lines are:\n${quoted(lines, Math.max(0, near - 2))}`;
}

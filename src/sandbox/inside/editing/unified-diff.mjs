import { ToolError } from '../tool-error.mjs';
import { anchorOf, dropBlankEnd, marked } from './hunk-lines.mjs';

/** Parses a unified diff as `git diff` or `diff -u` write it. Wrong counts in the headers of hunks do not matter. */
export function unifiedChanges(patch) {
  const changes = [];
  const lines = patch.split('\n');
  for (const [i, line] of lines.entries()) {
    const isName = line.startsWith('--- ') && lines[i + 1]?.startsWith('+++ ');
    const last = changes.at(-1);
    if (line.startsWith('diff --git ')) changes.push(newChange());
    else if (isName) takeNames(changes, line, lines[i + 1]);
    else if (last !== undefined && !(line.startsWith('+++ ') && lines[i - 1]?.startsWith('--- '))) takeLine(last, line);
  }
  return changes.map(finished);
}

/** Begins another file, unless a line of git began it already. */
function takeNames(changes, from, target) {
  const last = changes.at(-1);
  const isBegun = last !== undefined && last.hunks.length === 0 && last.from === undefined;
  if (!isBegun) changes.push(newChange());
  Object.assign(changes.at(-1), { from: nameIn(from), target: nameIn(target) });
}

function takeLine(change, line) {
  if (line.startsWith('@@') && change.from !== undefined) change.hunks.push({ ...anchorOf(line), lines: [] });
  else if (change.hunks.length > 0 && !line.startsWith('```')) takeHunkLine(change, line);
  else takeExtendedHeader(change, line);
}

const newChange = () => ({ hunks: [], from: undefined, target: undefined });

/** Returns the path in a `---` or `+++` line, without the time after it. */
function nameIn(line) {
  const name = line.slice(4).split('\t')[0].trim();
  return /^".*"$/.test(name) ? unquoted(name) : name;
}

/** Undoes the quotation of git for unusual names: octal bytes and C escapes. */
function unquoted(name) {
  const bytes = [];
  const escapes = { n: 10, t: 9, r: 13, '"': 34, '\\': 92 };
  for (const [part, octal, char] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs))
    bytes.push(
      ...(octal ? [Number.parseInt(octal, 8)] : char ? [escapes[char] ?? char.charCodeAt(0)] : Buffer.from(part)),
    );
  return Buffer.from(bytes).toString('utf8');
}

function takeHunkLine(change, line) {
  const hunk = change.hunks.at(-1);
  if (!line.startsWith('\\')) hunk.lines.push(marked(line));
  // "\ No newline at end of file" is about the line before it.
  else if (hunk.lines.length > 0) hunk.lines.at(-1).isUnended = true;
}

function takeExtendedHeader(change, line) {
  const [, what, value] = /^(rename from|rename to|new file mode|deleted file mode|new mode) (.*)$/.exec(line) ?? [];
  if (what === 'rename from') change.renamed = { ...change.renamed, from: value };
  if (what === 'rename to') change.renamed = { ...change.renamed, to: value };
  if (what === 'new file mode') change.isNew = true;
  if (what === 'deleted file mode') change.isDeleted = true;
  if (what === 'new mode' || (what === 'new file mode' && value === '100755')) change.mode = value;
  if (/^(?:GIT binary patch|Binary files )/.test(line))
    throw new ToolError('a patch of a binary file cannot be applied');
}

function finished({ hunks, from, target, renamed, isDeleted, mode }) {
  if (mode !== undefined) throw new ToolError('the mode of a file cannot be patched; use chmod in a command');
  if (from === undefined && renamed?.from !== undefined && renamed.to !== undefined)
    return { kind: 'update', path: renamed.from, to: renamed.to, hunks: [] };
  if (from === undefined) throw new ToolError('the patch names a file, but has no "--- " and "+++ " lines for it');
  for (const hunk of hunks) dropBlankEnd(hunk);
  if (from === '/dev/null') return { kind: 'add', ...stripped(target), text: addedText(hunks) };
  if (target === '/dev/null' || isDeleted) return { kind: 'delete', ...stripped(from), hunks };
  if (hunks.length === 0 && renamed === undefined) throw new ToolError(`the patch changes nothing in ${from}`);
  const both = /^a\//.test(from) && /^b\//.test(target);
  const [path, to] = both ? [from.slice(2), target.slice(2)] : [from, target];
  return { kind: 'update', path, hunks, ...(to === path ? {} : { to }), ...(both ? { prefixed: from } : {}) };
}

/** Removes the prefix of a name that stands alone. `prefixed` is the name with it, in case such a folder exists. */
function stripped(name) {
  return /^[ab]\//.test(name) ? { path: name.slice(2), prefixed: name } : { path: name };
}

function addedText(hunks) {
  const lines = hunks.flatMap((hunk) => hunk.lines).filter(({ mark }) => mark === '+');
  if (lines.length === 0) return '';
  return lines.map(({ text }) => text).join('\n') + (lines.at(-1).isUnended ? '' : '\n');
}

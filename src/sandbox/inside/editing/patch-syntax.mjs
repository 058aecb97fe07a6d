import { ToolError } from '../tool-error.mjs';
import { anchorOf, dropBlankEnd, marked } from './hunk-lines.mjs';
import { unifiedChanges } from './unified-diff.mjs';

/**
 * A change of one file: `kind` is add, update or delete. An update has hunks and may rename the file (`to`). A hunk has
 * lines marked by ' ', '-' or '+'; `anchor` is a line that comes before it, `line` the number of its first old line,
 * `atEnd` says that it is the end of the file.
 */

/** Parses a patch in either format. Text around it, such as a code fence, is left out. */
export function parsePatch(text) {
  const patch = text.replaceAll('\r\n', '\n');
  const changes = /^\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File:)/m.test(patch)
    ? markedChanges(patch)
    : unifiedChanges(patch);
  if (changes.length === 0)
    throw new ToolError(
      'the patch contains no change; it begins with "*** Begin Patch" and "*** Update File: <path>", or with "--- a/<path>" and "+++ b/<path>"',
    );
  return changes;
}

const header = /^\*\*\* (Add|Update|Delete) File: *(.+?) *$/;

/** Parses the format with `*** Begin Patch` and `*** Update File:`. */
function markedChanges(patch) {
  const changes = [];
  const all = patch.split('\n');
  // Before and after it may be prose, or the shell command that would run it.
  const begin = all.findIndex((line) => /^\*\*\* (Begin Patch|\w+ File:)/.test(line));
  const end = all.findIndex((line) => line.trim() === '*** End Patch');
  const lines = all.slice(begin, end < 0 ? undefined : end).filter((line) => line !== '*** Begin Patch');
  for (const [i, line] of lines.entries()) {
    const [, kind, path] = header.exec(line.slice(0, 4200)) ?? [];
    if (kind === undefined) takeLine(changes.at(-1), line, lines[i + 1]);
    else changes.push({ kind: kind.toLowerCase(), path, hunks: [], added: [] });
  }
  return changes.map(completed);
}

function completed(change) {
  const hunks = change.hunks.filter(({ lines }) => lines.length > 0);
  for (const hunk of hunks) dropBlankEnd(hunk);
  if (change.kind === 'update' && change.to === undefined && hunks.length === 0)
    throw new ToolError(`the patch changes nothing in ${change.path}; it has no line with - or +`);
  return { ...change, hunks, ...(change.kind === 'add' ? { text: textOfAdded(change) } : {}) };
}

/** Adds a line of the patch to the change that it belongs to. */
function takeLine(change, line, next) {
  if (change === undefined)
    throw new ToolError(`"*** Update File: <path>" is expected before ${JSON.stringify(line.slice(0, 100))}`);
  const moved = /^\*\*\* Move to: *(.+?) *$/.exec(line.slice(0, 4200));
  if (moved !== null) change.to = moved[1];
  else if (change.kind === 'add') change.added.push(line);
  else if (change.kind === 'delete') refuseContent(change, line);
  else if (line.trim() === '*** End of File') lastHunk(change).atEnd = true;
  else if (line.startsWith('@@')) change.hunks.push({ ...anchorOf(line), lines: [] });
  // Headers of a unified diff inside this format.
  else if ((line.startsWith('--- ') && next?.startsWith('+++ ')) || /^\+\+\+ (?:b\/|\/dev\/null)/.test(line)) return;
  else lastHunk(change).lines.push(marked(line));
}

function refuseContent({ path }, line) {
  if (line.trim() !== '') throw new ToolError(`"*** Delete File: ${path}" has no lines after it`);
}

function lastHunk(change) {
  if (change.hunks.length === 0) change.hunks.push({ lines: [] });
  return change.hunks.at(-1);
}

function textOfAdded({ path, added }) {
  const lines = [...added];
  while (lines.length > 0 && lines.at(-1) === '') lines.pop();
  if (lines.some((line) => line !== '' && !line.startsWith('+')))
    throw new ToolError(`every line after "*** Add File: ${path}" must begin with +`);
  return lines.length === 0 ? '' : `${lines.map((line) => line.slice(1)).join('\n')}\n`;
}

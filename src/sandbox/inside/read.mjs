import { stat } from 'node:fs/promises';
import { textOf } from './files.mjs';
import { listFiles } from './listing.mjs';
import { inside, meantPath } from './paths.mjs';
import { fitting, linesOf, numbered } from './show.mjs';
import { ToolError } from './tool-error.mjs';

/** Shows a text file with line numbers, as many whole lines as fit. Lists a folder. */
export async function readFile(root, { path: given, startLine = 1, endLine }) {
  const path = await meantPath(root, given);
  if (await isFolder(root, path)) return `${path} is a folder:\n${await listFiles(root, { path, depth: 1 })}`;
  const { text } = await textOf(root, path);
  if (text === '') return `(${path} is empty)`;
  const lines = linesOf(text);
  if (startLine > lines.length) throw new ToolError(`${path} has only ${lines.length} lines`);
  const end = Math.min(endLine ?? lines.length, lines.length);
  if (end < startLine) throw new ToolError(`endLine ${endLine} is before startLine ${startLine}`);
  const shown = fitting(numbered(lines.slice(startLine - 1, end), startLine));
  const last = startLine - 1 + shown.length;
  const notes = [
    last < end ? `[too long for one answer; go on with startLine ${last + 1}]` : '',
    startLine > 1 || last < lines.length ? `[lines ${startLine} to ${last} of ${lines.length}]` : '',
    text.includes('\r\n') ? '[the lines end with CRLF]' : '',
  ];
  return [...shown, ...notes.filter(Boolean)].join('\n');
}

async function isFolder(root, path) {
  const real = await inside(root, path);
  return (await stat(real).catch(() => undefined))?.isDirectory() === true;
}

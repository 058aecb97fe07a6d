// Serves the file tools of one run over stdin and stdout, one JSON object per line. It runs inside the sandbox, or in an
// ordinary process where there is no sandbox, so it imports nothing from the service. command-host.ts runs the commands.
import { createInterface } from 'node:readline';
import { deleteFile, editFile, insertLines, writeFile } from './editing/edit.mjs';
import { applyPatch } from './editing/patch.mjs';
import { textOf } from './files.mjs';
import { listFiles } from './listing.mjs';
import { readFile } from './read.mjs';
import { restore } from './restore.mjs';
import { findRipgrep, search } from './search.mjs';
import { limits, ToolError } from './tool-error.mjs';

const [root, without = ''] = process.argv.slice(2);
const ripgrep = without === '--without-ripgrep' ? undefined : await findRipgrep();

/** Each takes the root of the workspace and the arguments, and returns the text for the model. */
const tools = {
  list_files: listFiles,
  read_file: readFile,
  search: (_root, args) => search(root, args, ripgrep),
  write_file: writeFile,
  edit_file: editFile,
  insert_lines: insertLines,
  apply_patch: applyPatch,
  delete_file: deleteFile,
};

/** Called by the service, not by the model. */
const internal = {
  restore,
  read_text: async (_root, { path }) => (await textOf(root, path)).text,
};

function capped(text) {
  if (text.length <= limits.outputChars) return text;
  const half = limits.outputChars / 2;
  return `${text.slice(0, half)}\n[… ${text.length - limits.outputChars} characters cut …]\n${text.slice(-half)}`;
}

async function call(tool, args) {
  try {
    const handler = Object.hasOwn(tools, tool) ? tools[tool] : internal[tool];
    if (handler === undefined) throw new ToolError(`unknown tool ${tool}`);
    return { ok: true, text: await handler(root, args) };
  } catch (error) {
    if (error instanceof ToolError) return { ok: false, text: error.message };
    return { ok: false, text: `${error.code ?? 'error'}: the ${tool} tool failed` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, tool, args } = JSON.parse(line);
  const answer = await call(tool, args);
  process.stdout.write(`${JSON.stringify({ id, ok: answer.ok, text: capped(answer.text) })}\n`);
}

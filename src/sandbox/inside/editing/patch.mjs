import { lstat, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { editableText, missing, save } from '../files.mjs';
import { exists, inside, meantPath, writablePath } from '../paths.mjs';
import { changedPlaces } from '../show.mjs';
import { limits, ToolError } from '../tool-error.mjs';
import { withUnixEndings } from './edit.mjs';
import { patchedLines } from './hunks.mjs';
import { parsePatch } from './patch-syntax.mjs';

const maxFiles = 200;

/** Applies a patch to several files, all of it or nothing, and shows the changed lines. */
export async function applyPatch(root, { patch }) {
  if (Buffer.byteLength(patch) > limits.fileBytes) throw new ToolError(`a patch has at most ${limits.fileBytes} bytes`);
  const changes = parsePatch(patch);
  if (changes.length > maxFiles) throw new ToolError(`a patch changes at most ${maxFiles} files`);
  const plan = { root, files: new Map(), said: [] };
  for (const change of changes) await planners[change.kind](plan, change);
  await carryOut(plan.files);
  return plan.said.join('\n\n');
}

/** Each prepares a change: it reads and checks, but writes nothing. Later changes see the result of earlier ones. */
const planners = {
  async add(plan, change) {
    const path = await writablePath(plan.root, change.path);
    await refuseUnclear(plan, change);
    const known = await contentOf(plan, path);
    if (known !== null && known !== change.text)
      throw new ToolError(`${path} exists already; use an update with the lines that change`);
    await set(plan, path, change.text);
    plan.said.push(
      `added ${path}\n${changedPlaces(change.text, [{ from: 0, to: change.text.split('\n').length - 1 }])}`,
    );
  },

  async delete(plan, change) {
    const path = await existing(plan, change);
    await set(plan, path, null);
    plan.said.push(`deleted ${path}`);
  },

  async update(plan, change) {
    const path = await existing(plan, change);
    const text = await contentOf(plan, path);
    const { body, ending } = withUnixEndings(text);
    const { text: after, places, notes } = patchedLines(body, change.hunks, path);
    const made = ending === '\r\n' ? after.replaceAll('\n', '\r\n') : after;
    const to = change.to === undefined ? path : await writablePath(plan.root, change.to);
    if (to !== path) {
      if ((await contentOf(plan, to)) !== null)
        throw new ToolError(`${to} exists already, so nothing can be moved there`);
      await set(plan, path, null);
    }
    await set(plan, to, made, await modeOf(plan, path));
    const how = notes.length === 0 ? '' : ` (${notes.join(', ')} differed and was kept)`;
    const what = to === path ? `changed ${path}` : `moved ${path} to ${to}`;
    plan.said.push(`${what}${how}\n${changedPlaces(after, places)}`.trimEnd());
  },
};

/** Returns the path of a file that a change needs. */
async function existing(plan, change) {
  await refuseUnclear(plan, change);
  for (const path of [change.path, change.prefixed]) {
    if (path === undefined) continue;
    const meant = await meantPath(plan.root, path);
    if ((await contentOf(plan, meant)) !== null) return meant;
  }
  throw new ToolError(await missing(plan.root, change.path));
}

/** Refuses a name such as a/file.js where both a/file.js and file.js could be meant. */
async function refuseUnclear({ root }, { path, prefixed }) {
  if (prefixed === undefined || !(await exists(root, prefixed.slice(0, 1)))) return;
  const both = (await exists(root, path)) === (await exists(root, prefixed));
  if (both) throw new ToolError(`${prefixed} may be ${prefixed} or ${path}; name it without the prefixes of git`);
}

const keyOf = async ({ root }, path) => join(await inside(root, dirname(path)), basename(path));

/** Returns the text of a file as the earlier changes of the patch leave it; null if there is none. */
async function contentOf(plan, path) {
  const planned = plan.files.get(await keyOf(plan, path));
  if (planned !== undefined) return planned.after;
  if (!(await exists(plan.root, path))) return null;
  return (await editableText(plan.root, path)).text;
}

async function modeOf(plan, path) {
  const { mode } = (await stat(await inside(plan.root, path)).catch(() => undefined)) ?? {};
  return mode === undefined ? undefined : mode & 0o777;
}

async function set(plan, path, after, mode) {
  if (after !== null && Buffer.byteLength(after) > limits.fileBytes)
    throw new ToolError(`${path} would have more than ${limits.fileBytes} bytes`);
  const key = await keyOf(plan, path);
  const link = await lstat(key).catch(() => undefined);
  // A link is deleted itself; a change goes to its target.
  const real = after === null ? key : await inside(plan.root, path);
  const before = plan.files.has(key)
    ? plan.files.get(key).before
    : link === undefined
      ? null
      : await backupOf(plan, path, link);
  plan.files.set(key, { real, before, after, mode });
}

async function backupOf(plan, path, link) {
  if (link.isSymbolicLink()) throw new ToolError(`${path} is a link; change its target, or delete it with delete_file`);
  return (await editableText(plan.root, path)).text;
}

/** Writes all files. If one cannot be written, writes the old contents back. */
async function carryOut(files) {
  const done = [];
  try {
    for (const file of files.values()) {
      done.push(file);
      await put(file.real, file.after, file.mode);
    }
  } catch (error) {
    for (const { real, before, mode } of done.reverse()) await put(real, before, mode).catch(() => {});
    throw new ToolError(`nothing was changed, because a file could not be written: ${error.message}`);
  }
}

async function put(real, text, mode) {
  if (text === null) await rm(real, { force: true });
  else await save(real, text, mode);
}

import { constants, open, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { glob, ignoreRules, isIgnored } from './gitignore.mjs';
import { exists, inside, meantPath } from './paths.mjs';
import { ToolError } from './tool-error.mjs';

/** Never listed or searched, except below a folder that is named. */
const unlisted = new Set(['.git', 'node_modules']);
const maxShown = 1000;
/** A walk ends after this many entries or this long, and says so. */
const [maxWalked, walkMs] = [200_000, 15_000];
const maxIgnoreBytes = 100_000;
const maxGlobChars = 4096;

/**
 * Walks through a folder of the workspace, sorted by name, and yields what git does not ignore. Paths are relative to
 * the root. Ends early when `room` is used up.
 */
export async function* walk(root, start, { depth = 100, room = newRoom() } = {}) {
  const from = relative(root, start);
  yield* walkInto({ root, room }, { folder: start, path: from, rules: await rulesAbove(root, from), depth });
}

/** Limits the entries and the time of a walk. `isUsedUp` is set when a limit ended the walk. */
export function newRoom() {
  return { entries: maxWalked, until: performance.now() + walkMs, isUsedUp: false };
}

async function* walkInto(walker, { folder, path, rules, depth }) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const own = entries.some(({ name }) => name === '.gitignore') ? await rulesIn(folder, path) : [];
  const all = own.length === 0 ? rules : [...rules, ...own];
  for (const entry of entries) {
    const below = path === '' ? entry.name : `${path}/${entry.name}`;
    if (unlisted.has(entry.name) || isIgnored(all, below, entry.isDirectory())) continue;
    walker.room.entries -= 1;
    if (walker.room.entries < 0 || performance.now() > walker.room.until) {
      walker.room.isUsedUp = true;
      return;
    }
    yield { path: below, entry };
    if (entry.isDirectory() && depth > 1)
      yield* walkInto(walker, { folder: join(folder, entry.name), path: below, rules: all, depth: depth - 1 });
  }
}

/** Returns the rules of the folders above a path. They do not apply when the path itself is ignored but was named. */
async function rulesAbove(root, path) {
  const parts = path === '' ? [] : path.split('/');
  let rules = [];
  for (const [i] of parts.entries()) {
    const base = parts.slice(0, i).join('/');
    rules = [...rules, ...(await rulesIn(join(root, base), base))];
    if (isIgnored(rules, parts.slice(0, i + 1).join('/'), true)) return [];
  }
  return rules;
}

async function rulesIn(folder, base) {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(join(folder, '.gitignore'), flags).catch(() => undefined);
  if (handle === undefined) return [];
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > maxIgnoreBytes) return [];
    return ignoreRules(await handle.readFile('utf8'), base);
  } finally {
    await handle.close();
  }
}

/** Splits a glob into the folder that it starts in and a test of paths. Returns undefined for a plain path. */
export async function globIn(root, path) {
  if (path.length > maxGlobChars) throw new ToolError(`a path has at most ${maxGlobChars} characters`);
  if (!/[*?[{]/.test(path) || (await exists(root, path))) return undefined;
  const clean = path.replace(/^\.\//, '').replace(/^\/work\//, '');
  const parts = clean.split('/');
  const first = parts.findIndex((part) => /[*?[{]/.test(part));
  const fits = glob(clean);
  return { start: await inside(root, parts.slice(0, first).join('/') || '.'), fits };
}

/** Lists files and folders, marked as by `ls -F`. */
export async function listFiles(root, { path = '.', depth = 3 }) {
  const wanted = path === '' ? '.' : path;
  const pattern = await globIn(root, wanted);
  const start = pattern?.start ?? (await inside(root, await meantPath(root, wanted)));
  if (!(await stat(start).catch(() => undefined))?.isDirectory()) throw new ToolError(`${path} is not a folder`);
  const room = newRoom();
  const lines = [];
  for await (const found of walk(root, start, pattern === undefined ? { depth, room } : { room })) {
    if (pattern === undefined || (!found.entry.isDirectory() && pattern.fits(found.path))) lines.push(marked(found));
    if (lines.length >= maxShown) return [...lines, `[cut after ${maxShown} entries; name a folder]`].join('\n');
  }
  if (room.isUsedUp) lines.push('[the folder is too large to be listed whole; name a folder below it]');
  if (lines.length > 0) return lines.join('\n');
  return pattern === undefined ? '(empty)' : `no file matches ${path}`;
}

function marked({ path, entry }) {
  return path + (entry.isDirectory() ? '/' : entry.isSymbolicLink() ? '@' : '');
}

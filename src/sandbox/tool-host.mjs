// Serves the file tools of one run over stdin and stdout, one JSON object per line. It runs inside the sandbox, or as a
// plain process if there is none, and imports nothing from the service. Commands run in other sandboxes (shell.ts).
import { spawn } from 'node:child_process';
import { constants, lstat, mkdir, open, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { createInterface } from 'node:readline';

const [root, looseEdit] = process.argv.slice(2);
const { editLoosely } = await import(looseEdit);

const limits = { fileBytes: 2_000_000, outputChars: 30_000, listEntries: 1000, lineChars: 2000 };
const [searchSeconds, searchKilobytes] = [20, 500_000];

class ToolError extends Error {}

/**
 * Resolves a path in the workspace to its real path. Checks every link along the path, so that none leads out of the
 * workspace. The last component need not exist.
 */
async function inside(path) {
  if (typeof path !== 'string' || path === '') throw new ToolError('path must be a string such as src/index.js');
  if (path.includes('\0')) throw new ToolError('path must not contain a NUL character');
  const parts = partsBelowRoot(resolve(root, path), path, 'is outside the workspace');
  let real = await realpath(root);
  for (const [i, part] of parts.entries()) {
    const next = join(real, part);
    const found = await lstat(next).catch(() => undefined);
    if (found === undefined) return join(real, ...parts.slice(i));
    real = found.isSymbolicLink() ? await realpath(next).catch(() => join(sep, 'nowhere')) : next;
    partsBelowRoot(real, path, 'leads outside the workspace through a link');
  }
  return real;
}

/** Splits a path into its components below the workspace. @throws ToolError if it is outside or in a git folder */
function partsBelowRoot(absolute, path, isOutside) {
  const parts = relative(root, absolute).split(sep).filter(Boolean);
  if (parts[0] === '..') throw new ToolError(`${path} ${isOutside}`);
  if (parts.some((part) => part.toLowerCase() === '.git'))
    throw new ToolError(`${path} is inside git's own folder, which the tools do not open`);
  return parts;
}

async function textOf(path) {
  const real = await inside(path);
  const found = await stat(real).catch(() => undefined);
  if (found === undefined) throw new ToolError(`${path} does not exist`);
  if (!found.isFile()) throw new ToolError(`${path} is not a file`);
  if (found.size > limits.fileBytes) throw new ToolError(`${path} has more than ${limits.fileBytes} bytes`);
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW);
  const content = await handle.readFile().finally(() => handle.close());
  if (content.subarray(0, 8000).includes(0)) throw new ToolError(`${path} is a binary file`);
  return { real, text: content.toString('utf8') };
}

const writing = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function save(real, text) {
  await mkdir(dirname(real), { recursive: true });
  const handle = await open(real, writing, 0o644);
  try {
    // Writing to a pipe or a device would lose the text, or wait forever for a reader.
    if (!(await handle.stat()).isFile()) throw new ToolError('the path is not a regular file');
    await handle.truncate(0);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

function capped(text) {
  if (text.length <= limits.outputChars) return text;
  const half = limits.outputChars / 2;
  return `${text.slice(0, half)}\n[… ${text.length - limits.outputChars} characters cut …]\n${text.slice(-half)}`;
}

const unlisted = new Set(['.git', 'node_modules']);

/** Adds the names in a folder and its subfolders, marked as by `ls -F`, down to a depth and up to the limit of entries. */
async function listInto(lines, { folder, prefix, depth }, path) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new ToolError(`${path} is not a folder`);
  });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries.filter(({ name }) => !unlisted.has(name))) {
    if (lines.length >= limits.listEntries) return;
    lines.push(prefix + entry.name + (entry.isDirectory() ? '/' : entry.isSymbolicLink() ? '@' : ''));
    const below = { folder: join(folder, entry.name), prefix: `${prefix}${entry.name}/`, depth: depth - 1 };
    if (entry.isDirectory() && depth > 1) await listInto(lines, below, path);
  }
}

const tools = {
  async list_files({ path = '.', depth = 3 }) {
    const lines = [];
    await listInto(lines, { folder: await inside(path), prefix: '', depth }, path);
    if (lines.length >= limits.listEntries) lines.push(`[cut after ${limits.listEntries} entries; name a folder]`);
    return lines.join('\n') || '(empty)';
  },

  async read_file({ path, startLine = 1, endLine }) {
    const { text } = await textOf(path);
    const lines = text.split('\n');
    const last = Math.min(endLine ?? lines.length, lines.length);
    if (startLine > lines.length) throw new ToolError(`${path} has only ${lines.length} lines`);
    const cut = (line) => (line.length > limits.lineChars ? `${line.slice(0, limits.lineChars)}[…]` : line);
    const shown = lines.slice(startLine - 1, last).map(cut);
    return shown.join('\n');
  },

  async search({ pattern, path = '.', regex = false }) {
    const real = await inside(path);
    const skipped = ['--exclude-dir=.git', '--exclude-dir=node_modules'];
    const args = ['-rnI', regex ? '-E' : '-F', ...skipped, '-m', '50', '-e', pattern, '--', real];
    // Without the limit a pattern such as (x{1,500}){1,500} would exhaust the memory.
    const limited = ['-c', `ulimit -v ${searchKilobytes}; exec grep "$@"`, 'sh', ...args];
    const { code, output, timedOut } = await execute('sh', limited, searchSeconds);
    if (code === 1) return 'no match';
    if (timedOut) throw new ToolError(`search took over ${searchSeconds} s; name a smaller path or a simpler pattern`);
    if (code !== 0) throw new ToolError(`search failed: ${output.slice(0, 500)}`);
    return output.replaceAll(`${root}/`, '');
  },

  async write_file({ path, content }) {
    const isTooLarge = Buffer.byteLength(content) > limits.fileBytes;
    if (isTooLarge) throw new ToolError(`content has more than ${limits.fileBytes} bytes`);
    await save(await inside(path), content);
    return `wrote ${path} (${content.split('\n').length} lines)`;
  },

  async edit_file({ path, old, new: replacement, replaceAll = false }) {
    const { real, text } = await textOf(path);
    if (old === '') throw new ToolError('old must not be empty; use write_file for a new file');
    const count = text.split(old).length - 1;
    if (count === 0) {
      const { changed, difference, problem } = editLoosely(text, old, replacement);
      if (problem !== undefined) throw new ToolError(`${path}: ${problem}`);
      await save(real, changed);
      return `changed ${path} (1 place; ${difference} differed from old and was kept)`;
    }
    if (count > 1 && !replaceAll)
      throw new ToolError(
        `old occurs ${count} times in ${path}; include more of the lines around it, or set replaceAll`,
      );
    const size = text.length + count * (replacement.length - old.length);
    if (size > limits.fileBytes)
      throw new ToolError(`${path} would have ${size} characters, more than ${limits.fileBytes}`);
    await save(real, text.split(old).join(replacement));
    return `changed ${path} (${count} ${count === 1 ? 'place' : 'places'})`;
  },

  async delete_file({ path }) {
    // Delete a link itself, not its target: only the parent folder is resolved.
    const real = join(await inside(dirname(path)), path.split('/').pop());
    const found = await lstat(real).catch(() => undefined);
    if (found === undefined) throw new ToolError(`${path} does not exist`);
    if (found.isDirectory()) throw new ToolError(`${path} is a folder; delete its files instead`);
    // A command may have replaced a folder with a link since the first check.
    await inside(dirname(path));
    await rm(real);
    return `deleted ${path}`;
  },
};

/** Runs a program in the workspace and kills it, with everything it started, when the time is up. */
function execute(program, args, seconds) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let timedOut = false;
    const keep = (chunk) => {
      output += chunk;
      if (output.length > limits.outputChars * 4)
        output = `${output.slice(0, limits.outputChars)}\n[…]\n${output.slice(-limits.outputChars)}`;
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', keep);
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
      child.stdout.destroy();
      child.stderr.destroy();
    }, seconds * 1000);
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(new ToolError(error.message));
    });
    // Listen to `exit`, because `close` would wait for a background process that keeps the pipes open.
    child.once('exit', (code) => {
      clearTimeout(timer);
      killGroup(child.pid);
      // Wait a moment for the last output.
      setTimeout(() => done({ code, output, timedOut }), 20);
    });
  });
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {} // It has ended.
}

/** Creates the folders of a path. Removes files and links that are in the place of a folder. */
async function clearFolders(path) {
  let folder = root;
  for (const part of path.split('/').filter((p) => p !== '.' && p !== '')) {
    folder = join(folder, part);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory()) continue;
    if (found !== undefined) await rm(folder);
    await mkdir(folder);
  }
}

/** Called by the service, not by the model: restores the files of an interrupted run. */
const internal = {
  async restore({ files }) {
    // The paths come from git's trees, so they need no check. Links on the path are removed, not followed.
    for (const { path, content } of files)
      if (content === null) await rm(join(root, path), { recursive: true, force: true });
    for (const { path, mode, content } of files) {
      if (content === null) continue;
      const full = join(root, path);
      await clearFolders(dirname(path));
      await rm(full, { recursive: true, force: true });
      const bytes = Buffer.from(content, 'base64');
      if (mode === '120000') await symlink(bytes.toString('utf8'), full);
      else await writeFile(full, bytes, { mode: mode === '100755' ? 0o755 : 0o644, flag: 'wx' });
    }
    return `restored ${files.length} files`;
  },
};

async function call(tool, args) {
  try {
    const handler = tools[tool] ?? internal[tool];
    if (handler === undefined) throw new ToolError(`unknown tool ${tool}`);
    return { ok: true, text: await handler(args) };
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

import { constants, mkdir, open, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { newRoom, walk } from './listing.mjs';
import { distance } from './matching/resemblance.mjs';
import { inside } from './paths.mjs';
import { limits, ToolError } from './tool-error.mjs';

/** Reads a text file. `isExact` says whether writing the text back would give the same bytes. */
export async function textOf(root, path) {
  const real = await inside(root, path);
  const found = await stat(real).catch(() => undefined);
  if (found === undefined) throw new ToolError(await missing(root, path));
  if (!found.isFile()) throw new ToolError(`${path} is not a file`);
  if (found.size > limits.fileBytes) throw new ToolError(`${path} has more than ${limits.fileBytes} bytes`);
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW);
  const content = await handle.readFile().finally(() => handle.close());
  if (content.subarray(0, 8000).includes(0)) throw new ToolError(`${path} is a binary file`);
  const text = content.toString('utf8');
  return { real, text, isExact: Buffer.from(text).equals(content) };
}

/** Reads a text file that will be changed. */
export async function editableText(root, path) {
  const { real, text, isExact } = await textOf(root, path);
  if (!isExact) throw new ToolError(`${path} is not UTF-8, so an edit would damage it; change it with a command`);
  return { real, text };
}

const writing = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Writes a file and makes its folders. An existing file keeps its mode. */
export async function save(real, text, mode = 0o644) {
  if (Buffer.byteLength(text) > limits.fileBytes)
    throw new ToolError(`the file would have more than ${limits.fileBytes} bytes`);
  await mkdir(dirname(real), { recursive: true });
  const handle = await open(real, writing, mode);
  try {
    // Writing to a pipe or a device would lose the text, or wait forever for a reader.
    if (!(await handle.stat()).isFile()) throw new ToolError('the path is not a regular file');
    await handle.truncate(0);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

const [maxSimilar, maxCompared] = [3, 5000];

/** Says that a file does not exist, and which similar ones do. */
export async function missing(root, path) {
  const wanted = basename(path).toLowerCase().slice(0, 100);
  const room = { ...newRoom(), entries: maxCompared };
  const similar = [];
  for await (const { path: known, entry } of walk(root, await inside(root, '.'), { room })) {
    const name = entry.name.toLowerCase();
    const isNear = Math.abs(name.length - wanted.length) <= 2;
    const apart = name === wanted ? 0 : isNear ? distance(name, wanted) : Number.POSITIVE_INFINITY;
    if (apart <= Math.min(2, wanted.length / 3)) similar.push([apart, known]);
  }
  const best = similar.sort(([a], [b]) => a - b).slice(0, maxSimilar);
  const hint =
    best.length === 0 ? 'list_files shows what exists' : `do you mean ${best.map(([, p]) => p).join(' or ')}?`;
  return `${path} does not exist; ${hint}`;
}

import { createHash } from 'node:crypto';
import { constants, type Dirent, lstatSync, type Stats } from 'node:fs';
import { type FileHandle, open, opendir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { foldersOf } from '../folders-of.ts';
import { blobOid, writeLoose } from '../javascript/loose-object.ts';
import { inPortions } from '../portions.ts';

export interface TreeEntry {
  mode: string;
  oid: string;
}

/** Limits of what a run may have changed; beyond them it is build output that belongs into .gitignore. */
const maxChangedFiles = 5000;
const maxChangedBytes = 100_000_000;
/** A file over this is hashed without being held in memory, and may not be changed. */
const streamedBytes = 20_000_000;
/** So many files are read at once; each under `streamedBytes`. */
const readAtOnce = 16;
/** So many files and folders may there be that the repository does not have; ignored folders are not looked into. */
const maxOthers = 100_000;
/** Names of a folder are read so many at a time. */
const readNamesAtOnce = 512;
/** So many are looked at before others get their turn: under a millisecond. */
const lookedInARow = 256;

/** A work tree that cannot become a pull request; the message says what to mend. */
export class UnfitWorkTree extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'UnfitWorkTree';
  }
}

function tooLarge(what: string): UnfitWorkTree {
  return new UnfitWorkTree(`the change is too large: over ${what}; remove build output, or name it in .gitignore`);
}

/** What was read before, by path and by the stamps that nobody can forge without being root. */
export type ReadBefore = Map<string, { stamp: string; oid: string }>;

interface Reading {
  workTree: string;
  gitDir: string;
  /** The files of the commit that is checked out; submodules are kept from here. */
  base: Map<string, TreeEntry>;
  isIgnored(path: string): Promise<boolean>;
  before: ReadBefore;
}

/**
 * Reads a work tree that somebody hostile may have written, without ever letting git into it: git would run the filters
 * that a nested repository configures. Links are stored, never followed; whatever is named .git is left out, so there
 * are no nested repositories; contents are taken as they are, without attributes. New contents become loose objects.
 * @throws UnfitWorkTree
 */
export async function readWorkTree(reading: Reading): Promise<Map<string, TreeEntry>> {
  const { base, workTree } = reading;
  const folders = await foldersOf(base);
  const found = new Map<string, TreeEntry>();
  await inPortions(base, ([path, entry]) => {
    if (entry.mode === '160000') found.set(path, entry);
  });
  const spent = { files: 0, bytes: 0 };
  let left = base.size + folders.size + maxOthers;
  const walk = async (folder: string): Promise<void> => {
    const entries = await entriesOf(join(workTree, folder), folder, folder === '' || folders.has(folder), left);
    left -= entries.length;
    const rules = entries.find((entry) => entry.name === '.gitignore');
    // Whoever opens a pipe waits for ever.
    if (rules !== undefined && !rules.isFile() && !rules.isSymbolicLink())
      throw new UnfitWorkTree(`${folder === '' ? '' : `${folder}/`}.gitignore is no file`);
    const looked = await Promise.all(
      entries.map(async (entry) => {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        const isKnown = base.has(path) || folders.has(path);
        const isOut = entry.name.toLowerCase() === '.git' || found.get(path)?.mode === '160000';
        return { entry, path, isOut: isOut || (!isKnown && (await isIgnored(reading, path))) };
      }),
    );
    const inside = looked.filter(({ isOut }) => !isOut);
    const files = inside.filter(({ entry }) => entry.isFile() || entry.isSymbolicLink());
    // Side by side: one after the other a file takes as long as the way to the thread pool and back.
    for (let at = 0; at < files.length; at += readAtOnce) {
      const batch = files.slice(at, at + readAtOnce);
      const read = await Promise.all(batch.map(({ path }) => readEntry(reading, path, spent)));
      for (const [i, entry] of read.entries()) if (entry !== undefined) found.set(batch[i]?.path ?? '', entry);
    }
    for (const { entry, path } of inside) if (entry.isDirectory()) await walk(path);
  };
  await walk('');
  return found;
}

/**
 * Notes that the files of a commit are in place as it has them, before anybody works on them: so the first reading finds
 * what nobody has touched by its stamp alone. On 4,000 files that saves reading each of them once.
 */
export async function rememberWorkTree({ workTree, base, before }: Pick<Reading, 'workTree' | 'base' | 'before'>) {
  let looked = 0;
  for (const [path, { mode, oid }] of base) {
    if (mode === '160000') continue;
    const stats = look(join(workTree, path), path);
    if (stats !== undefined) before.set(path, { stamp: stampOf(stats), oid });
    if (++looked % lookedInARow === 0) await new Promise(setImmediate);
  }
}

/** 3 µs, where the way to the thread pool and back takes 11: most files of a large work tree are only looked at. */
function look(path: string, name: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return gone(error, name);
  }
}

/** Only what is not there is gone; what cannot be read would else be pushed as deleted. @throws UnfitWorkTree */
function gone(error: unknown, name: string): undefined {
  const { code } = error as { code?: string };
  // A link or a folder may have come in its place meanwhile.
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code ?? '')) return undefined;
  throw new UnfitWorkTree(`${name} cannot be read (${code})`);
}

async function isIgnored(reading: Reading, path: string): Promise<boolean> {
  try {
    return await reading.isIgnored(path);
  } catch (error) {
    throw new UnfitWorkTree((error as Error).message);
  }
}

/** A folder that cannot be read is nothing only where the repository has nothing either; else its files would seem deleted. */
async function entriesOf(folder: string, path: string, isTracked: boolean, most: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    // One after the other: millions of names at once are gigabytes.
    for await (const entry of await opendir(folder, { bufferSize: readNamesAtOnce }))
      if (entries.push(entry) > most)
        throw tooLarge(`${maxOthers} files and folders that the repository does not have`);
  } catch (error) {
    if (error instanceof UnfitWorkTree) throw error;
    if (isTracked)
      throw new UnfitWorkTree(`${path || 'the workspace'} cannot be read (${(error as { code?: string }).code})`);
    return [];
  }
  return entries;
}

async function readEntry(
  reading: Reading,
  path: string,
  spent: { files: number; bytes: number },
): Promise<TreeEntry | undefined> {
  const { workTree, gitDir, base, before } = reading;
  const full = join(workTree, path);
  const stats = look(full, path);
  if (stats === undefined) return undefined;
  const mode = stats.isSymbolicLink() ? '120000' : (stats.mode & 0o100) !== 0 ? '100755' : '100644';
  const stamp = stampOf(stats);
  const known = before.get(path);
  if (known?.stamp === stamp) {
    if (base.get(path)?.oid !== known.oid) spend(spent, stats.size);
    return { mode, oid: known.oid };
  }
  if (stats.isFile() && stats.size > streamedBytes) {
    // Most likely a large file of the repository that nobody has touched: only its hash is asked for.
    const oid = await hashInside(full, workTree, stats.size);
    if (oid === undefined) return undefined;
    if (base.get(path)?.oid !== oid) throw tooLarge(`${streamedBytes} bytes in ${path}`);
    before.set(path, { stamp, oid });
    return { mode, oid };
  }
  const content = stats.isSymbolicLink() ? Buffer.from(await readlink(full)) : await readInside(full, workTree);
  if (content === undefined) return undefined;
  const oid = blobOid(content);
  if (base.get(path)?.oid !== oid) {
    spend(spent, content.length);
    await writeLoose(gitDir, oid, content);
  }
  before.set(path, { stamp, oid });
  return { mode, oid };
}

/** Counts a file that differs from the commit, however often it was read before. @throws UnfitWorkTree */
function spend(spent: { files: number; bytes: number }, bytes: number): void {
  spent.files += 1;
  spent.bytes += bytes;
  if (spent.files > maxChangedFiles) throw tooLarge(`${maxChangedFiles} files`);
  if (spent.bytes > maxChangedBytes) throw tooLarge(`${maxChangedBytes} bytes`);
}

function stampOf({ ino, size, mode, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs}`;
}

/** The content of a file that is still where it was listed: a folder on the way may have become a link meanwhile. */
function readInside(full: string, workTree: string): Promise<Buffer | undefined> {
  return withFile(full, workTree, async (handle) => {
    const { size } = await handle.stat();
    return size > streamedBytes ? undefined : handle.readFile();
  });
}

function hashInside(full: string, workTree: string, size: number): Promise<string | undefined> {
  return withFile(full, workTree, async (handle) => {
    const hash = createHash('sha1').update(`blob ${size}\0`);
    for await (const chunk of handle.createReadStream({ end: size - 1, autoClose: false }))
      hash.update(chunk as Buffer);
    return hash.digest('hex');
  });
}

async function withFile<T>(
  full: string,
  workTree: string,
  read: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) =>
    gone(error, full.slice(workTree.length + 1)),
  );
  if (handle === undefined) return undefined;
  try {
    // Our own folder may be reached over a link (/tmp, say); nobody hostile can put one there.
    const [where, root] = [await readlink(`/proc/self/fd/${handle.fd}`), await realpath(workTree)];
    const isHere = where === join(root, full.slice(workTree.length));
    return isHere && (await handle.stat()).isFile() ? await read(handle) : undefined;
  } finally {
    await handle.close();
  }
}

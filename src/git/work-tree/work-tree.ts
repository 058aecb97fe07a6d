import { createHash, randomUUID } from 'node:crypto';
import type { Dirent, Stats } from 'node:fs';
import { access, mkdir, readlink, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { Cone } from '../cone.ts';
import { hashInside, listFolder, lookAt, readInside, tooLarge, UnfitWorkTree } from './read-inside.ts';
import { foldersOf, inPortions, type TreeEntry } from './tree-files.ts';

/** How many files a run may change. A larger change is most likely build output. */
const maxChangedFiles = 5000;
const maxChangedBytes = 100_000_000;
/** A larger file is hashed as a stream instead of in memory, and a run must not change it. */
const streamedBytes = 20_000_000;
/** Files read at the same time, each of at most `streamedBytes`. */
const readAtOnce = 16;
/** At most this many untracked files and folders. Ignored folders are not entered. */
const maxOthers = 100_000;
/** Files whose status is read before yielding to the event loop; they take under a millisecond. */
const lookedInARow = 256;

/**
 * Results of earlier snapshots, by path. A file with the same stamp has the same content: the stamp contains the change
 * time and the inode number, which only root can forge.
 */
export type ReadBefore = Map<string, { stamp: string; oid: string }>;

interface Reading {
  workTree: string;
  gitDir: string;
  /** The files of the commit that is checked out. Submodules are taken from this list, not from disk. */
  base: Map<string, TreeEntry>;
  isIgnored(path: string): Promise<boolean>;
  before: ReadBefore;
  /** Set when only a part of the commit was checked out. */
  cone?: Cone | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a work tree that an agent may have filled with arbitrary files. Git is not used, because it would run the
 * filters that a nested repository configures. Links are stored and never followed. Everything named .git is left out,
 * so there are no nested repositories. Contents are stored unchanged, whatever the attributes say. New contents become
 * loose objects.
 * @throws UnfitWorkTree, or the reason of the signal
 */
export async function readWorkTree(reading: Reading): Promise<Map<string, TreeEntry>> {
  const folders = await foldersOf(reading.base);
  const submodules = new Map<string, TreeEntry>();
  await inPortions(reading.base, ([path, entry]) => {
    if (isSubmodule(entry)) submodules.set(path, entry);
  });
  const reader = new WorkTreeReader(reading, folders, submodules);
  await reader.readFolder('');
  return reader.found;
}

/**
 * Records the stamp of every file right after the checkout, before anybody changes one. The first snapshot then
 * recognizes untouched files by their stamps and does not read them.
 */
export async function rememberWorkTree(reading: Pick<Reading, 'workTree' | 'base' | 'before' | 'cone'>) {
  const { workTree, base, before, cone } = reading;
  let looked = 0;
  for (const [path, entry] of base) {
    if (isSubmodule(entry) || cone?.has(path) === false) continue;
    const stats = lookAt(join(workTree, path), path);
    if (stats !== undefined) before.set(path, { stamp: stampOf(stats), oid: entry.oid });
    if (++looked % lookedInARow === 0) await new Promise(setImmediate);
  }
}

/** The state of one snapshot of a work tree, which is read folder by folder. */
class WorkTreeReader {
  readonly found: Map<string, TreeEntry>;
  readonly #reading: Reading;
  /** Folders in which the commit has files. */
  readonly #folders: Set<string>;
  readonly #changed = { files: 0, bytes: 0 };
  /** How many more names may be listed. */
  #namesLeft: number;

  constructor(reading: Reading, folders: Set<string>, submodules: Map<string, TreeEntry>) {
    this.found = submodules;
    this.#reading = reading;
    this.#folders = folders;
    this.#namesLeft = reading.base.size + folders.size + maxOthers;
  }

  async readFolder(folder: string): Promise<void> {
    this.#reading.signal?.throwIfAborted();
    const entries = await this.#list(folder);
    checkIgnoreFile(folder, entries);
    const named = entries.map((entry) => ({ entry, path: folder === '' ? entry.name : `${folder}/${entry.name}` }));
    for (const { entry, path } of named) this.#assertHidesNothing(entry, path);
    const isLeftOut = await Promise.all(named.map(({ entry, path }) => this.#isLeftOut(entry.name, path)));
    const inside = named.filter((_, i) => !isLeftOut[i]);
    await this.#readFiles(
      inside.filter(({ entry }) => entry.isFile() || entry.isSymbolicLink()).map(({ path }) => path),
    );
    for (const { entry, path } of inside) if (entry.isDirectory()) await this.readFolder(path);
  }

  async #list(folder: string): Promise<Dirent[]> {
    const isTracked = folder === '' || this.#folders.has(folder);
    const entries = await listFolder(join(this.#reading.workTree, folder), {
      name: folder || 'the workspace',
      isTracked,
      most: this.#namesLeft,
      tooMany: () => tooLarge(`${maxOthers} files and folders that the repository does not have`),
    });
    this.#namesLeft -= entries.length;
    return entries;
  }

  /**
   * Ensures that a file or folder does not take the place of files that were not checked out, and that nobody has looked at.
   * @throws UnfitWorkTree
   */
  #assertHidesNothing(entry: Dirent, path: string): void {
    const { base, cone } = this.#reading;
    if (cone === undefined || cone.holds(path)) return;
    const known = base.get(path);
    const isInTheWay = known === undefined ? !entry.isDirectory() && this.#folders.has(path) : !cone.has(path);
    // An empty folder stands for a submodule, also for one outside.
    if (!isInTheWay || (known !== undefined && isSubmodule(known))) return;
    throw new UnfitWorkTree(
      `${path} is in the way of what the repository has there, which is not in the workspace, because checkout.paths of .deckhand.yml is limited to ${cone.folders.join(', ').slice(0, 500)}; remove it or choose another name`,
    );
  }

  async #isLeftOut(name: string, path: string): Promise<boolean> {
    const known = this.#reading.base.get(path);
    if (name.toLowerCase() === '.git') return true;
    if (known !== undefined) return isSubmodule(known);
    if (this.#folders.has(path)) return false;
    return this.#reading.isIgnored(path).catch((error: Error) => {
      throw new UnfitWorkTree(error.message);
    });
  }

  /** Reads several files at the same time, because each read waits for the thread pool. */
  async #readFiles(paths: string[]): Promise<void> {
    for (let at = 0; at < paths.length; at += readAtOnce) {
      this.#reading.signal?.throwIfAborted();
      const batch = paths.slice(at, at + readAtOnce);
      const read = await Promise.all(batch.map(async (path) => [path, await this.#readFile(path)] as const));
      for (const [path, entry] of read) if (entry !== undefined) this.found.set(path, entry);
    }
  }

  async #readFile(path: string): Promise<TreeEntry | undefined> {
    const { workTree, before } = this.#reading;
    const stats = lookAt(join(workTree, path), path);
    if (stats === undefined) return undefined;
    const [mode, stamp, known] = [modeOf(stats), stampOf(stats), before.get(path)];
    if (known?.stamp === stamp) {
      if (this.#isChanged(path, known.oid)) this.#count(stats.size);
      return { mode, oid: known.oid };
    }
    const isLarge = stats.isFile() && stats.size > streamedBytes;
    const oid = isLarge ? await this.#hashLarge(path, stats.size) : await this.#store(path, stats);
    if (oid === undefined) return undefined;
    before.set(path, { stamp, oid });
    return { mode, oid };
  }

  /**
   * Hashes a large file, most likely one of the repository that nobody has touched.
   * @throws UnfitWorkTree when it was changed
   */
  async #hashLarge(path: string, size: number): Promise<string | undefined> {
    const { workTree } = this.#reading;
    const oid = await hashInside(join(workTree, path), workTree, size);
    if (oid !== undefined && this.#isChanged(path, oid)) throw tooLarge(`${streamedBytes} bytes in ${path}`);
    return oid;
  }

  /** Writes the content of a changed file or link to the repository. */
  async #store(path: string, stats: Stats): Promise<string | undefined> {
    const { workTree, gitDir } = this.#reading;
    const full = join(workTree, path);
    const content = stats.isSymbolicLink()
      ? Buffer.from(await readlink(full))
      : await readInside(full, workTree, streamedBytes);
    if (content === undefined) return undefined;
    const oid = blobOid(content);
    if (this.#isChanged(path, oid)) {
      this.#count(content.length);
      await writeLoose(gitDir, oid, content);
    }
    return oid;
  }

  #isChanged(path: string, oid: string): boolean {
    return this.#reading.base.get(path)?.oid !== oid;
  }

  /** Counts a file that differs from the commit. @throws UnfitWorkTree when the change becomes too large */
  #count(bytes: number): void {
    this.#changed.files += 1;
    this.#changed.bytes += bytes;
    if (this.#changed.files > maxChangedFiles) throw tooLarge(`${maxChangedFiles} files`);
    if (this.#changed.bytes > maxChangedBytes) throw tooLarge(`${maxChangedBytes} bytes`);
  }
}

/**
 * Ensures that .gitignore is a regular file.
 * @throws UnfitWorkTree for a pipe or a device, from which git would read forever
 */
function checkIgnoreFile(folder: string, entries: Dirent[]): void {
  const rules = entries.find((entry) => entry.name === '.gitignore');
  if (rules === undefined || rules.isFile() || rules.isSymbolicLink()) return;
  throw new UnfitWorkTree(`${folder === '' ? '' : `${folder}/`}.gitignore must be a file`);
}

function isSubmodule({ mode }: TreeEntry): boolean {
  return mode === '160000';
}

function modeOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return '120000';
  return (stats.mode & 0o100) === 0 ? '100644' : '100755';
}

function stampOf({ ino, size, mode, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs}`;
}

/** Stores a blob in a repository and returns its id. */
export async function storeBlob(gitDir: string, content: Buffer): Promise<string> {
  const oid = blobOid(content);
  await writeLoose(gitDir, oid, content);
  return oid;
}

function blobOid(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Writes a blob in git's loose object format (man gitformat-loose), unless the repository already has it. */
async function writeLoose(gitDir: string, oid: string, content: Buffer): Promise<void> {
  const file = join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2));
  if (
    await access(file).then(
      () => true,
      () => false,
    )
  )
    return;
  await mkdir(dirname(file), { recursive: true });
  const packed = await promisify(deflate)(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
  // Written under a temporary name and renamed, because two files with the same content may be written at the same
  // time.
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, packed, { mode: 0o444 });
  await rename(unfinished, file);
}

import { createHash } from 'node:crypto';
import { constants, type Dirent, type Stats } from 'node:fs';
import { access, lstat, mkdir, open, readdir, readlink, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';

export interface TreeEntry {
  mode: string;
  oid: string;
}

/** Limits of what a run may have changed; beyond them it is build output that belongs into .gitignore. */
const maxChangedFiles = 5000;
const maxChangedBytes = 100_000_000;

/** The change in a work tree is larger than a pull request should be. */
export class ChangeTooLarge extends Error {
  constructor(what: string) {
    super(`the change is too large: ${what}; remove build output, or name it in .gitignore`);
    this.name = 'ChangeTooLarge';
  }
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
 * @throws ChangeTooLarge
 */
export async function readWorkTree(reading: Reading): Promise<Map<string, TreeEntry>> {
  const { base, workTree } = reading;
  const folders = new Set([...base.keys()].flatMap(parentsOf));
  const found = new Map([...base].filter(([, { mode }]) => mode === '160000'));
  const spent = { files: 0, bytes: 0 };
  const walk = async (folder: string): Promise<void> => {
    const entries = await entriesOf(join(workTree, folder));
    const looked = await Promise.all(
      entries.map(async (entry) => {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        const isKnown = base.has(path) || folders.has(path);
        const isOut = entry.name.toLowerCase() === '.git' || found.get(path)?.mode === '160000';
        return { entry, path, isOut: isOut || (!isKnown && (await reading.isIgnored(path))) };
      }),
    );
    for (const { entry, path, isOut } of looked) {
      if (isOut) continue;
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile() || entry.isSymbolicLink()) {
        const read = await readEntry(reading, path, spent);
        if (read !== undefined) found.set(path, read);
      }
    }
  };
  await walk('');
  return found;
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  // A folder that its owner closed to everybody is closed to us as well, unless we are root; it holds nothing then.
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

async function readEntry(
  reading: Reading,
  path: string,
  spent: { files: number; bytes: number },
): Promise<TreeEntry | undefined> {
  const { workTree, gitDir, base, before } = reading;
  const full = join(workTree, path);
  const stats = await lstat(full).catch(() => undefined);
  if (stats === undefined) return undefined;
  const mode = stats.isSymbolicLink() ? '120000' : (stats.mode & 0o100) !== 0 ? '100755' : '100644';
  const stamp = stampOf(stats);
  const known = before.get(path);
  if (known?.stamp === stamp) return { mode, oid: known.oid };
  if (spent.bytes + stats.size > maxChangedBytes + baseAllowance(base, path))
    throw new ChangeTooLarge(`over ${maxChangedBytes} bytes`);
  const content = stats.isSymbolicLink() ? Buffer.from(await readlink(full)) : await readInside(full, workTree);
  if (content === undefined) return undefined;
  const oid = blobOid(content);
  if (base.get(path)?.oid !== oid) {
    spent.files += 1;
    spent.bytes += content.length;
    if (spent.files > maxChangedFiles) throw new ChangeTooLarge(`over ${maxChangedFiles} files`);
    await writeLoose(gitDir, oid, content);
  }
  before.set(path, { stamp, oid });
  return { mode, oid };
}

/** A large file of the repository itself may be read to see that it is unchanged. */
function baseAllowance(base: Map<string, TreeEntry>, path: string): number {
  return base.has(path) ? Number.MAX_SAFE_INTEGER / 2 : 0;
}

function stampOf({ ino, size, mode, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs}`;
}

/** The content of a file that is still where it was listed: a folder on the way may have become a link meanwhile. */
async function readInside(full: string, workTree: string): Promise<Buffer | undefined> {
  const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) return undefined;
  try {
    const [where, root] = [await readlink(`/proc/self/fd/${handle.fd}`), await realFolder(workTree)];
    return where === join(root, full.slice(workTree.length)) ? await handle.readFile() : undefined;
  } finally {
    await handle.close();
  }
}

const realFolders = new Map<string, string>();

/** Our own folder may be reached over a link (/tmp, say); that was so before the hostile part began. */
async function realFolder(folder: string): Promise<string> {
  const known = realFolders.get(folder);
  if (known !== undefined) return known;
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const real = await readlink(`/proc/self/fd/${handle.fd}`).finally(() => handle.close());
  realFolders.set(folder, real);
  return real;
}

function blobOid(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** git's loose object format (gitformat-loose). */
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
  const making = `${file}.${process.pid}`;
  await writeFile(making, packed, { mode: 0o444 });
  await rename(making, file);
}

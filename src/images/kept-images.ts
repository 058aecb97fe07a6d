import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';

/** Marks are renewed this often. One that is older than `staleMs` was left by a process that was killed. */
const [beatMs, staleMs] = [30_000, 180_000];
const prefix = 'in-use-';

/** The marks of this process. */
const held = new Set<{ file: string }>();
let timer: NodeJS.Timeout | undefined;

/**
 * Marks a folder as in use, so that no process removes it, and returns a function that removes the mark. Marks are files
 * that are renewed while they are needed: workers that share the folder see them, and those of a killed worker expire.
 * @throws Error `ENOENT` when the folder does not exist
 */
async function markInUse(folder: string): Promise<() => Promise<void>> {
  const mark = { file: join(folder, `${prefix}${randomBytes(8).toString('hex')}`) };
  await writeFile(mark.file, '');
  held.add(mark);
  timer ??= setInterval(renew, beatMs).unref();
  return async () => {
    held.delete(mark);
    await rm(mark.file, { force: true });
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Tells the marks of this process that their folder has been renamed. */
function followRename(from: string, to: string): void {
  for (const mark of held) if (dirname(mark.file) === from) mark.file = join(to, basename(mark.file));
}

/** Returns whether a process uses a folder. */
async function isInUse(folder: string): Promise<boolean> {
  for (const name of (await readdir(folder).catch(() => [])).filter((each) => each.startsWith(prefix))) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found !== undefined && found.mtimeMs > Date.now() - staleMs) return true;
  }
  return false;
}

function renew(): void {
  const now = new Date();
  // A folder that was removed by hand takes its marks along.
  for (const { file } of held) utimes(file, now, now).catch(() => {});
}

/** Name, size, permissions and time of the last change of every file. The kernel sets that time; nobody can choose it. */
const listing = "find . -mindepth 1 -printf '%P\\t%y\\t%s\\t%m\\t%C@\\t%b\\n\\0' | LC_ALL=C sort -z";

/**
 * Returns a digest that changes when anybody adds, changes or removes a file below a folder, and the size of the files on
 * disk. It reads no contents: 20,000 files take 0.1 s.
 */
async function sealOf(folder: string): Promise<{ seal: string; bytes: number }> {
  const env = { PATH: '/usr/bin:/bin' };
  const child = spawn('/bin/sh', ['-c', listing], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const hash = createHash('sha256');
  let blocks = 0;
  let line = '';
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const read = async () => {
    for await (const chunk of child.stdout.setEncoding('latin1') as AsyncIterable<string>) {
      hash.update(chunk, 'latin1');
      const lines = (line + chunk).split('\n\0');
      line = lines.pop() ?? '';
      for (const each of lines) blocks += Number(each.slice(each.lastIndexOf('\t') + 1));
    }
  };
  await Promise.race([read(), failed]);
  return { seal: hash.digest('hex'), bytes: blocks * 512 };
}

/** What is known about a kept image besides its files. */
const description = z.object({
  key: z.string(),
  digest: z.string(),
  env: z.record(z.string(), z.string()),
  workDir: z.string().optional(),
  /** See `sealOf`. */
  seal: z.string(),
  bytes: z.number(),
});
type Description = z.infer<typeof description>;

export interface KeptImage extends Omit<Description, 'seal'> {
  root: string;
  release(): Promise<void>;
}

/** The folder of an image that is not complete yet. */
export interface Making {
  folder: string;
  /** Makes the image in `<folder>/root` available to runs, unless another process was faster. */
  keep(image: Pick<Description, 'digest' | 'env' | 'workDir'>): Promise<void>;
  /** Removes the folder of an image that was not kept. */
  discard(): Promise<void>;
}

const descriptionFile = 'image.json';

/**
 * Unpacked images in a folder, one folder for each key of 64 hex digits. Names with a dot are images that are being made
 * or removed. A folder that is in use stays.
 */
export class KeptImages {
  readonly #folder: string;
  readonly #removeTree: (folder: string) => Promise<void>;

  constructor(folder: string, removeTree: (folder: string) => Promise<void>) {
    this.#folder = folder;
    this.#removeTree = removeTree;
  }

  /** Returns an image and keeps it until it is released. One that somebody has changed is removed instead. */
  async hold(key: string): Promise<KeptImage | undefined> {
    const entry = join(this.#folder, key);
    const release = await markInUse(entry).catch(() => undefined);
    if (release === undefined) return undefined;
    const found = await readDescription(entry);
    const root = join(entry, 'root');
    const isWhole = found?.key === key && (await sealOf(root).catch(() => undefined))?.seal === found.seal;
    if (!isWhole) {
      await release();
      // Runs that still use it keep its files until they end.
      if (!(await this.#remove(entry))) await this.#moveAway(entry);
      return undefined;
    }
    // Its age decides which image is removed first.
    const used = () => utimes(join(entry, descriptionFile), new Date(), new Date()).catch(() => {});
    await used();
    const { seal: _, ...image } = found;
    return { ...image, root, release: () => used().then(release) };
  }

  /** Begins to make an image. */
  async make(key: string): Promise<Making> {
    const entry = join(this.#folder, key);
    const folder = `${entry}.${randomBytes(6).toString('hex')}`;
    await mkdir(this.#folder, { recursive: true, mode: 0o711 });
    await mkdir(folder, { mode: 0o755 });
    const release = await markInUse(folder);
    return {
      folder,
      keep: async (image) => {
        const { seal, bytes } = await sealOf(join(folder, 'root'));
        const text = JSON.stringify({ key, ...image, seal, bytes } satisfies Description);
        await writeFile(join(folder, descriptionFile), text, { mode: 0o600 });
        try {
          await rename(folder, entry);
          followRename(folder, entry);
          await release();
        } catch (error) {
          // Another process has made the same image, which remains.
          if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
        }
      },
      discard: async () => {
        await release();
        await this.#removeTree(folder);
      },
    };
  }

  /** Removes the least recently used images until at most `bytes` are kept. Returns how many bytes are kept then. */
  async trim(bytes: number): Promise<number> {
    return this.#shrink(async (kept) => kept <= bytes);
  }

  /** Removes the least recently used images until this many bytes are free on the disk. */
  async makeRoom(bytes: number): Promise<void> {
    await this.#shrink(async () => {
      const { bavail, bsize } = await statfs(this.#folder);
      return bavail * bsize >= bytes;
    });
  }

  async #shrink(isEnough: (kept: number) => Promise<boolean>): Promise<number> {
    const entries: { entry: string; bytes: number; usedMs: number }[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const entry = join(this.#folder, name);
      const found = name.includes('.') ? undefined : await readDescription(entry);
      const usedMs = (await stat(join(entry, descriptionFile)).catch(() => undefined))?.mtimeMs ?? 0;
      if (found === undefined) await this.#remove(entry);
      else entries.push({ entry, bytes: found.bytes, usedMs });
    }
    let kept = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { entry, bytes } of entries.sort((a, b) => a.usedMs - b.usedMs)) {
      if (await isEnough(kept)) break;
      if (await this.#remove(entry)) kept -= bytes;
    }
    return kept;
  }

  /** Removes an entry unless it is in use. It is renamed first, so that nobody begins to use it. */
  async #remove(entry: string): Promise<boolean> {
    if (await isInUse(entry)) return false;
    const leaving = await this.#moveAway(entry);
    if (leaving !== undefined) await this.#removeTree(leaving);
    return leaving !== undefined;
  }

  /** Renames an entry, so that it no longer counts as an image; undefined when another process was faster. */
  async #moveAway(entry: string): Promise<string | undefined> {
    const [hex] = basename(entry).split('.');
    const leaving = join(this.#folder, `${hex}.${randomBytes(6).toString('hex')}`);
    try {
      await rename(entry, leaving);
    } catch {
      return undefined;
    }
    followRename(entry, leaving);
    return leaving;
  }
}

async function readDescription(entry: string): Promise<Description | undefined> {
  try {
    return description.parse(JSON.parse(await readFile(join(entry, descriptionFile), 'utf8')));
  } catch {
    return undefined;
  }
}

import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';
import { containsSome, flat, type Needles, needlesOf } from '../../domain/secrets.ts';
import { readSparse } from './archive.ts';

/** A secret, and a file that contains it. */
export interface FoundSecret {
  name: string;
  path: string;
}

/** How much is searched. Holes in files count with their full length, although they are not read. */
export interface SearchLimits {
  signal: AbortSignal;
  maxBytes: number;
  seconds: number;
}

/** The search reached a limit at a file. */
export class SearchOverLimit extends Error {
  readonly limit: string;
  readonly path: string;

  constructor(limit: string, path: string) {
    super(`more than ${limit} to search, at ${path}`);
    this.limit = limit;
    this.path = path;
  }
}

/** Bytes searched before yielding to the event loop, which takes a few milliseconds for a few secrets. */
const portion = 262_144;
/** Larger files of which less than half is on disk are read without their holes. Starting a program takes 10 ms. */
const sparseBytes = 1_000_000;

const [slash, newline] = [Buffer.from('/'), Buffer.from('\n')] as const;

/**
 * Searches these entries of a folder for the values of secrets, in every encoding of `formsOf` and across lines: names,
 * link targets and contents of files. Returns the first file that contains one. Call this only while no other process
 * changes the files.
 * @throws SearchOverLimit, or the reason of the signal
 */
export async function findSecret(
  folder: string,
  names: string[],
  secrets: { name: string; value: string }[],
  limits: SearchLimits,
): Promise<FoundSecret | undefined> {
  const needles = needlesOf(secrets.map(({ value }) => value));
  if (needles.longest === 0) return undefined;
  const search = new Search(needles, limits);
  // Set-up may have made names that are not UTF-8, so paths are bytes.
  const root = Buffer.from(`${folder}/`);
  const waiting = names.map((name) => Buffer.from(name)).reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const full = Buffer.concat([root, path]);
    const stats = await lstat(full);
    search.enter(path.toString(), stats);
    const found = await search.inEntry(path, full, stats);
    if (found !== undefined) return { name: nameIn(found, secrets), path: path.toString() };
    if (stats.isDirectory())
      for (const inside of await readdir(full, 'buffer')) waiting.push(Buffer.concat([path, slash, inside]));
  }
  return undefined;
}

/** Returns the name of the secret that bytes contain. */
function nameIn(bytes: Buffer, secrets: { name: string; value: string }[]): string {
  return secrets.find(({ value }) => containsSome(bytes, needlesOf([value])))?.name ?? '';
}

/** A search within its limits. */
class Search {
  readonly #needles: Needles;
  readonly #limits: SearchLimits;
  readonly #began = performance.now();
  #bytes = 0;
  #path = '';

  constructor(needles: Needles, limits: SearchLimits) {
    this.#needles = needles;
    this.#limits = limits;
  }

  /** Goes on with the next entry. Its size counts before it is read. */
  enter(path: string, stats: Stats): void {
    this.#path = path;
    if (stats.isFile()) this.#bytes += stats.size;
    const { maxBytes } = this.#limits;
    if (this.#bytes > maxBytes) throw new SearchOverLimit(`${Math.round(maxBytes / 2 ** 20)} MB`, path);
    this.#assertInTime();
  }

  /** Returns the flat bytes of a name, the target of a link or a file that contain a secret; undefined if none do. */
  async inEntry(path: Buffer, full: Buffer, stats: Stats): Promise<Buffer | undefined> {
    const target = stats.isSymbolicLink() ? await readlink(full, 'buffer') : Buffer.alloc(0);
    const named = flat(Buffer.concat([path, newline, target]));
    if (containsSome(named, this.#needles)) return named;
    return stats.isFile() ? this.#inFile(full, stats) : undefined;
  }

  async #inFile(path: Buffer, { size, blocks }: Stats): Promise<Buffer | undefined> {
    const isSparse = size > sparseBytes && blocks * 512 < size / 2;
    let rest = Buffer.alloc(0);
    for await (const part of isSparse ? readSparse(path, this.#limits.signal) : readPortions(path)) {
      this.#assertInTime();
      const bytes = Buffer.concat([rest, flat(part)]);
      if (containsSome(bytes, this.#needles)) return bytes;
      // A secret may begin at the end of this portion and continue in the next one.
      rest = bytes.subarray(Math.max(0, bytes.length - this.#needles.longest + 1));
      await breathe();
    }
    return undefined;
  }

  #assertInTime(): void {
    const { signal, seconds } = this.#limits;
    signal.throwIfAborted();
    if (performance.now() - this.#began > seconds * 1000) throw new SearchOverLimit(`${seconds} s`, this.#path);
  }
}

/** Reads a file. Each portion is valid until the next one. */
async function* readPortions(path: Buffer): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(portion);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, portion);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

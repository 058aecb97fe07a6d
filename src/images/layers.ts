import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { imageFailed } from './reference.ts';
import { type RegistryClient, retried } from './registry/client.ts';
import type { Layer } from './registry/manifest.ts';

/** Limits on what an image may contain. */
export interface ImageLimits {
  megabytes: number;
}

const mb = 2 ** 20;
/** The number of files that an image may have for each MB of its limit. */
const filesPerMb = 64;
/** Layers that are downloaded at the same time. */
const atOnce = 3;
/** A download that makes no progress for this long is aborted. */
const stallSeconds = 60;
/** The free disk space to leave, and how many bytes are written between two checks of it. */
const [reserveBytes, checkBytes] = [512 * mb, 64 * mb];

export interface LayersToFetch {
  name: string;
  layers: Layer[];
  registry: RegistryClient;
  /** Each layer is stored here without compression, named by its digest. */
  folder: string;
  limits: ImageLimits;
  signal: AbortSignal;
}

/**
 * Downloads the layers of an image. They are checked against their digests, decompressed, and counted while they arrive,
 * so an image that is too large is refused before it is unpacked.
 */
export async function fetchLayers(wanted: LayersToFetch): Promise<void> {
  const { layers, signal, folder } = wanted;
  const others = new AbortController();
  const all = AbortSignal.any([signal, others.signal]);
  const spending = spendingOf(wanted);
  // An image may have the same layer several times.
  const waiting = [...new Map(layers.map((layer) => [layer.diffId, layer])).values()];
  const work = async () => {
    for (let layer = waiting.shift(); layer !== undefined; layer = waiting.shift()) {
      const next = layer;
      await retried(() => fetchLayer(next, { ...wanted, signal: all }, spending), all);
    }
  };
  const workers = Array.from({ length: atOnce }, () => work());
  await Promise.all(workers).catch(async (error) => {
    others.abort(error);
    await Promise.allSettled(workers);
    throw error;
  });
  await checkRoom(folder);
}

async function fetchLayer(layer: Layer, wanted: LayersToFetch, spending: Spending): Promise<void> {
  const { registry, folder, name } = wanted;
  const file = join(folder, layer.diffId.slice('sha256:'.length));
  const stall = stallClock(wanted.signal);
  const spent = spending.begin();
  try {
    const response = await registry.get(`blobs/${layer.digest}`, '*/*', stall.signal);
    if (response.body === null) throw imageFailed(`the registry sent nothing for a layer of ${name}`);
    const hash = createHash('sha256');
    let received = 0;
    const check = async function* (source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        stall.beat();
        received += chunk.length;
        if (received > layer.size) throw imageFailed(`a layer of ${name} is larger than its manifest says`);
        hash.update(chunk);
        yield chunk;
      }
    };
    const scan = new ArchiveScan();
    const count = async function* (source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        scan.add(chunk);
        await spent.add(chunk.length, scan.entries);
        yield chunk;
      }
    };
    const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
    await pipeline(body, check, decompressor(layer), count, createWriteStream(file), { signal: stall.signal });
    if (received !== layer.size) throw new Error(`the download of a layer of ${name} ended early`);
    if (`sha256:${hash.digest('hex')}` !== layer.digest)
      throw imageFailed(`the registry sent something other than ${layer.digest} for ${name}`);
  } catch (error) {
    spent.undo();
    await rm(file, { force: true });
    throw clear(error as Error, stall, name);
  } finally {
    stall.stop();
  }
}

function decompressor({ compression }: Layer) {
  if (compression === 'gzip') return createGunzip();
  return compression === 'zstd' ? createZstdDecompress() : new PassThrough();
}

function clear(error: Error & { code?: string }, stall: { isLate(): boolean }, name: string): Error {
  if (stall.isLate()) return new Error(`the download of ${name} made no progress for ${stallSeconds} s`);
  const isDamaged = /^(Z_|ZSTD_)/.test(error.code ?? '') && error.code !== 'Z_BUF_ERROR';
  return isDamaged ? imageFailed(`a layer of ${name} cannot be decompressed`) : error;
}

/** Aborts a download that makes no progress. */
function stallClock(signal: AbortSignal) {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), stallSeconds * 1000);
  return {
    signal: AbortSignal.any([signal, late.signal]),
    isLate: () => late.signal.aborted,
    beat: () => timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}

type Spending = ReturnType<typeof spendingOf>;

/** Adds up what all layers of an image contain. */
function spendingOf({ name, folder, limits: { megabytes } }: Pick<LayersToFetch, 'name' | 'folder' | 'limits'>) {
  const maxFiles = megabytes * filesPerMb;
  const total = { bytes: 0, files: 0, unchecked: 0 };
  return {
    /** Begins one download. */
    begin() {
      const own = { bytes: 0, files: 0 };
      return {
        /** Counts further bytes, and all files so far. @throws RunFailed beyond a limit */
        async add(bytes: number, files: number): Promise<void> {
          total.bytes += bytes;
          total.files += files - own.files;
          total.unchecked += bytes;
          own.bytes += bytes;
          own.files = files;
          if (total.bytes > megabytes * mb)
            throw imageFailed(`${name} is larger than ${megabytes} MB unpacked (MAX_IMAGE_MB)`);
          if (total.files > maxFiles)
            throw imageFailed(`${name} has more than ${maxFiles} files (${filesPerMb} for each MB of MAX_IMAGE_MB)`);
          if (total.unchecked < checkBytes) return;
          total.unchecked = 0;
          await checkRoom(folder);
        },
        undo(): void {
          total.bytes -= own.bytes;
          total.files -= own.files;
        },
      };
    },
  };
}

/** @throws Error `ENOSPC` when too little disk space is free */
async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  const reserve = Math.min(reserveBytes, (blocks * bsize) / 20);
  if (bavail * bsize < reserve) throw Object.assign(new Error('too little disk space is free'), { code: 'ENOSPC' });
}

const blockSize = 512;
/** Largest block of further attributes (PAX) that is read. */
const maxAttributes = 1_000_000;
/** Kinds of entries without content: links, devices, folders and pipes. */
const withoutContent = new Set('123456');
/** Kinds of entries that describe the next one: attributes, and names that are too long for a header. */
const describesNext = new Set('xLK');

/**
 * Counts the entries of a tar archive while it is downloaded, so that an image with too many files is refused before any
 * of them is created. It must never count less than what the program that unpacks the archive sees, so whatever the two
 * could understand differently is refused. That includes sparse files, which are larger on disk than in the archive.
 */
export class ArchiveScan {
  entries = 0;
  readonly #header = Buffer.alloc(blockSize);
  /** Bytes of the header that are present. */
  #filled = 0;
  /** Bytes until the next header. */
  #left = 0;
  #attributes: Buffer[] | undefined;
  /** The size that attributes declare for the next entry, and whether they may give it another name. */
  #declared: number | undefined;
  #isRenamed = false;
  #hasEnded = false;

  /** Reads the next part of the archive. @throws RunFailed when the archive is not supported */
  add(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && !this.#hasEnded) {
      const isContent = this.#left > 0;
      const length = Math.min(chunk.length - at, isContent ? this.#left : blockSize - this.#filled);
      const part = chunk.subarray(at, at + length);
      at += length;
      if (isContent) this.#readContent(part);
      else this.#readHeader(part);
    }
  }

  #readContent(part: Uint8Array): void {
    this.#left -= part.length;
    this.#attributes?.push(Buffer.from(part));
    if (this.#left > 0 || this.#attributes === undefined) return;
    this.#declared = declaredSize(Buffer.concat(this.#attributes).toString('latin1'));
    this.#attributes = undefined;
  }

  #readHeader(part: Uint8Array): void {
    this.#header.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled < blockSize) return;
    this.#filled = 0;
    // A block of zeros ends the archive. Nothing that follows is unpacked.
    if (this.#header.every((byte) => byte === 0)) {
      this.#hasEnded = true;
      return;
    }
    this.#readEntry(String.fromCharCode(this.#header[156] ?? 0));
  }

  #readEntry(kind: string): void {
    if (kind === 'S') throw sparse();
    const size = withoutContent.has(kind) ? 0 : sizeIn(this.#header);
    this.#left = Math.ceil(size / blockSize) * blockSize;
    if (kind === 'x' && size > 0) {
      if (size > maxAttributes) throw imageFailed('a layer of the image has a file with more than 1 MB of attributes');
      this.#attributes = [];
    }
    if (!describesNext.has(kind)) {
      if (this.#declared !== undefined && this.#declared !== size && kind !== 'g') throw unclear();
      // In archives of the oldest format, a name that ends in a slash makes a folder, which has no content.
      const [name = ''] = this.#header.toString('latin1', 0, 100).split('\0');
      if (kind === '\0' && size > 0 && (this.#isRenamed || name.endsWith('/'))) throw unclear();
      this.#declared = undefined;
    }
    this.#isRenamed = describesNext.has(kind);
    this.entries += 1;
  }
}

function sizeIn(header: Buffer): number {
  const text = header.toString('latin1', 124, 136);
  const digits = /^[ \0]*([0-7]*)[ \0]*$/.exec(text)?.[1];
  // Sizes from 8 GB are written in another way.
  if (digits === undefined) throw imageFailed('a layer of the image has a file of more than 8 GB, or is damaged');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

/** Finds the size in attributes such as `27 mtime=1350244992.02\n`. */
function declaredSize(attributes: string): number | undefined {
  if (/ GNU\.sparse\./.test(attributes)) throw sparse();
  const sizes = [...attributes.matchAll(/ size=(\d+)\n/g)].map(([, digits]) => Number(digits));
  if (sizes.length > 1 || (sizes.length === 0 && / size=/.test(attributes))) throw unclear();
  return sizes[0];
}

function unclear() {
  return imageFailed('a layer of the image has a file whose size is unclear');
}

function sparse() {
  return imageFailed('a layer of the image has a sparse file, which is not supported');
}

import { imageFailed } from './reference.ts';

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

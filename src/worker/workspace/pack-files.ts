import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { RestoredFile } from '../../sandbox/sandbox.ts';

/** Changed files by the id of their repository. The key of the task's own is `ownRepository`. */
export type ChangedFiles = Record<string, RestoredFile[]>;

/**
 * Files are packed and unpacked in pieces of about this many bytes, which take milliseconds. A change may have 100 MB; as one
 * text, it holds the event loop for half a second.
 */
const pieceBytes = 500_000;

/** Compresses changed files, to be stored with a turn. Returns null if nothing changed. */
export async function packFiles(files: ChangedFiles): Promise<Buffer | null> {
  const changed = Object.entries(files).filter(([, some]) => some.length > 0);
  if (changed.length === 0) return null;
  const packed: Buffer[] = [];
  await pipeline(Readable.from(inPieces(textsOf(changed))), createGzip(), async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) packed.push(chunk);
  });
  return Buffer.concat(packed);
}

/**
 * Writes JSON with one line for each file, which can be read line by line. Older versions read it as a whole. Contents are
 * base64, so they need no escapes.
 */
function* textsOf(changed: [string, RestoredFile[]][]): Iterable<string> {
  for (const [i, [id, files]] of changed.entries()) {
    yield `${i === 0 ? '{' : ','}\n${JSON.stringify(id)}:[\n`;
    for (const [k, file] of files.entries()) yield* textsOfFile(file, k === 0 ? '' : ',');
    yield ']\n';
  }
  yield '}\n';
}

function* textsOfFile({ content, ...file }: RestoredFile, before: string): Iterable<string> {
  yield `${before}${JSON.stringify(file).slice(0, -1)},"content":${content === null ? 'null' : '"'}`;
  for (let at = 0; at < (content?.length ?? 0); at += pieceBytes) yield content?.slice(at, at + pieceBytes) ?? '';
  yield content === null ? '}\n' : '"}\n';
}

/** Joins short texts, because each write to a compressor takes a moment. */
function* inPieces(texts: Iterable<string>): Iterable<Buffer> {
  let joined = '';
  for (const text of texts) {
    joined += text;
    if (joined.length < pieceBytes) continue;
    yield Buffer.from(joined);
    joined = '';
  }
  yield Buffer.from(joined);
}

/** Reads packed files. @throws an error if they are damaged */
export async function readPacked(packed: Buffer): Promise<ChangedFiles | RestoredFile[]> {
  const files: ChangedFiles = {};
  let [id, line]: [string | undefined, Buffer[]] = [undefined, []];
  const endLine = () => {
    const text = Buffer.concat(line).toString('utf8');
    line = [];
    if (text.startsWith('"')) {
      id = JSON.parse(text.replace(/:\[$/, '')) as string;
      files[id] = [];
    } else if (id !== undefined && /^,?\{"/.test(text)) files[id]?.push(JSON.parse(text.replace(/^,/, '')));
  };
  await pipeline(
    Readable.from(slicesOf(packed)),
    createGunzip({ chunkSize: pieceBytes }),
    async (source: AsyncIterable<Buffer>) => {
      for await (const chunk of source) {
        let from = 0;
        for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
          line.push(chunk.subarray(from, at));
          endLine();
          from = at + 1;
        }
        line.push(chunk.subarray(from));
      }
    },
  );
  // An older version wrote everything into one line.
  return id === undefined ? JSON.parse(Buffer.concat(line).toString('utf8')) : files;
}

function* slicesOf(packed: Buffer): Iterable<Buffer> {
  for (let at = 0; at < packed.length; at += pieceBytes) yield packed.subarray(at, at + pieceBytes);
}

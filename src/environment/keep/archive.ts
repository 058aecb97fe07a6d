import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

/**
 * Moves what lies in one folder into another on the same disk. What is already there stays, and links are not followed,
 * so none of the repository's own files is replaced and nothing is written outside. Call this only while no other
 * process changes the folders.
 */
export async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const there = await lstat(target).catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (there === undefined) await rename(source, target);
    else if (entry.isDirectory() && there.isDirectory()) await moveInto(source, target);
  }
}

/**
 * Lets the service read and move everything in a folder, which it owns. Set-up may have removed its own permissions, as
 * some package caches do with their folders. Root needs none. Links are not followed.
 * @throws the reason of the signal
 */
export async function makeReadable(folder: string, signal: AbortSignal): Promise<void> {
  if (process.getuid?.() === 0) return;
  const folders = ['-type', 'd', '!', '-perm', '-700', '-exec', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-400', '-exec', 'chmod', 'u+r', '{}', '+'];
  await promisify(execFile)('find', [folder, '(', ...folders, ')', '-o', '(', ...files, ')'], {
    env: { PATH: '/usr/bin:/bin' },
    signal,
  }).catch((error) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** An archive whose content has changed since it was packed. */
export class DamagedArchive extends Error {}

const brokenPipe = new Set(['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

export interface Packed {
  bytes: number;
  /** The checksum of the archive. */
  sha256: string;
}

/** The fastest level that is worth it: 447 MB of packages become 96 MB. */
const level = 3;
/** Bytes handed on at once. With Node's 16 kB, handing on takes longer than compressing. */
const chunkSize = 1_048_576;

/**
 * Packs what lies under these names of a folder into a new archive, and unpacks it into an empty folder at the same time,
 * which takes half as long as one after the other. Nothing outside the folder is followed.
 */
export async function pack(
  folder: string,
  names: string[],
  { archive, unpacked }: { archive: string; unpacked: string },
  signal: AbortSignal,
): Promise<Packed> {
  // Set-up may have created setuid programs. They have no effect in a sandbox, but would be dangerous on the host.
  const options = ['--mode=ug-s', '--owner=0', '--group=0', '--numeric-owner', '--one-file-system', '--sparse'];
  // Build tools compare modification times, which the older format stores only in whole seconds.
  const format = ['--format=posix', '--pax-option=delete=atime,delete=ctime'];
  const child = tar(['--create', ...options, ...format, `--directory=${folder}`, '--null', '--files-from=-'], signal);
  const ended = endOf(child);
  child.stdin?.on('error', () => {});
  child.stdin?.end(names.map((name) => `${name}\0`).join(''));
  const unpacking = startUnpacking(unpacked, signal);
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const compress = createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: level } });
  const file = createWriteStream(archive, { flags: 'wx', mode: 0o600, highWaterMark: chunkSize });
  const packing = pipeline(outputOf(child), alsoTo(unpacking.input), compress, counted, file, { signal });
  const all = [ended, packing, unpacking.ended];
  await Promise.all(all).catch(async (error) => {
    child.kill('SIGKILL');
    unpacking.stop();
    // Nothing may write into the folders after this.
    await Promise.allSettled(all);
    throw error;
  });
  return { bytes, sha256: hash.digest('hex') };
}

/** Hands on what it gets, and writes it to `other`, which may close early. */
function alsoTo(other: Writable): Transform {
  const write = (chunk: Buffer, done: () => void) => {
    if (other.destroyed || other.write(chunk)) return done();
    const goOn = () => {
      other.off('drain', goOn).off('close', goOn);
      done();
    };
    other.on('drain', goOn).on('close', goOn);
  };
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => write(chunk, () => done(null, chunk)),
    flush: (done) => {
      other.end();
      done();
    },
  });
}

function startUnpacking(folder: string, signal: AbortSignal) {
  const child = tar(['--extract', '--preserve-permissions', '--no-same-owner', `--directory=${folder}`], signal);
  const ended = endOf(child);
  if (child.stdin === null) throw new Error('tar has no input');
  // tar may end before it has read the padding after the archive's end, which breaks the pipe.
  child.stdin.on('error', () => {});
  return { input: child.stdin, ended, stop: () => child.kill('SIGKILL') };
}

/** Unpacks an archive into an empty folder. @throws DamagedArchive before anything of it is unpacked */
export async function unpack(archive: string, { sha256 }: Packed, folder: string, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(archive, { highWaterMark: chunkSize }), hash, { signal });
  if (hash.digest('hex') !== sha256) throw new DamagedArchive('its checksum is wrong');
  const { input, ended } = startUnpacking(folder, signal);
  const read = createReadStream(archive, { highWaterMark: chunkSize });
  const feeding = pipeline(read, createZstdDecompress({ chunkSize }), input, { signal });
  // tar may end before it has read the padding after the archive's end, which breaks the pipe.
  const [, fed] = await Promise.all([ended, feeding.catch((error: NodeJS.ErrnoException) => error)]);
  signal.throwIfAborted();
  if (fed !== undefined && !brokenPipe.has(fed.code ?? '')) throw fed;
}

/**
 * Copies the content of a folder into another, as owned by this process and without extended attributes. Where the file
 * system can, the files share their blocks until one of them is written. Links are not followed. Call this only while no
 * other process changes the folders.
 */
export async function copyInto(from: string, to: string, signal: AbortSignal): Promise<void> {
  await mkdir(to, { recursive: true });
  const options = ['--recursive', '--no-dereference', '--preserve=mode,timestamps,links', '--reflink=auto'];
  await endOf(start('cp', [...options, '--no-target-directory', '--', from, to], signal));
}

/**
 * Reads a file without its holes, of which only the kernel knows where they are, and Node cannot ask it. What precedes the
 * content is about the file.
 */
export async function* readSparse(path: Buffer, signal: AbortSignal): AsyncGenerator<Buffer> {
  const child = tar(['--create', '--sparse', '--format=posix', '--absolute-names', '--null', '--files-from=-'], signal);
  const ended = endOf(child);
  // The loop below throws too, and then nobody waits for this.
  ended.catch(() => {});
  child.stdin?.on('error', () => {});
  child.stdin?.end(Buffer.concat([path, Buffer.of(0)]));
  try {
    yield* outputOf(child);
    await ended;
  } finally {
    child.kill('SIGKILL');
  }
}

/** Characters kept of what a program says. Its first line names a path, which may be longer than the system's limit. */
const saidChars = 20_000;

const tar = (args: string[], signal: AbortSignal) => start('tar', args, signal);

function start(program: 'tar' | 'cp', args: string[], signal: AbortSignal): ChildProcess {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' };
  return spawn(program, args, { env, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });
}

function outputOf({ stdout }: ChildProcess): NonNullable<ChildProcess['stdout']> {
  if (stdout === null) throw new Error('tar has no output');
  return stdout;
}

/** What programs say when the disk is full; the last of them about a file of which tar wrote only a part. */
const fullDisk = /No space left on device|Disk quota exceeded|Wrote only \d+ of/;

const longPath = /File name too long/;
/** Why nothing is kept of a set-up whose folders are nested too deeply for other programs. */
export const tooLongPath = 'set-up made a path that is longer than the system allows (4,096 bytes)';

/** Resolves when the program has succeeded. @throws Error with the code `ENOSPC` when the disk is full */
function endOf(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(0, saidChars);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, by) => {
      if (code === 0) return resolve();
      if (longPath.test(said)) return reject(new Error(tooLongPath));
      const error = new Error(
        `${child.spawnfile} ended with ${by ?? code}: ${(said.trim().split('\n', 1)[0] ?? '').slice(0, 500)}`,
      );
      reject(fullDisk.test(said) ? Object.assign(error, { code: 'ENOSPC' }) : error);
    });
  });
}

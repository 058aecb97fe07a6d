import { execFile } from 'node:child_process';
import { chmod, lchown, lstat, mkdir, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KeptImages } from './kept-images.ts';
import { fetchLayers, type ImageLimits } from './layers.ts';
import { imageFailed } from './reference.ts';
import type { RegistryClient } from './registry/client.ts';
import type { RemoteImage } from './registry/manifest.ts';
import { imageUser, unpack, writeLayout } from './unpack.ts';

/** The kernel also gives up after this many links. */
const maxLinks = 40;

/** Returns whether an unpacked image has a shell. */
async function hasShell(root: string): Promise<boolean> {
  const found = await findInside(root, '/bin/sh');
  return found !== undefined && ((await lstat(found)).mode & 0o111) !== 0;
}

/**
 * Returns the path, on this machine, of a file in an image; undefined when it is missing. Links are followed as if the
 * image's root were the machine's, because those of a hostile image lead out of it.
 */
async function findInside(root: string, path: string): Promise<string | undefined> {
  const ahead = partsOf(path);
  let at: string[] = [];
  for (let links = 0; links <= maxLinks; ) {
    const part = ahead.shift();
    if (part === undefined) return join(root, ...at);
    if (part === '..') {
      at.pop();
      continue;
    }
    const found = await lstat(join(root, ...at, part)).catch(() => undefined);
    if (found?.isSymbolicLink()) {
      links += 1;
      const target = await readlink(join(root, ...at, part));
      if (target.startsWith('/')) at = [];
      ahead.unshift(...partsOf(target));
      continue;
    }
    if (found === undefined || found.isDirectory() === (ahead.length === 0)) return undefined;
    at.push(part);
  }
  return undefined;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

export interface Pull {
  name: string;
  /** The name under which the image is kept. */
  key: string;
  image: RemoteImage;
  registry: RegistryClient;
  kept: KeptImages;
  limits: ImageLimits;
  signal: AbortSignal;
  note(line: string): void;
}

const mb = 2 ** 20;

/**
 * The layers and the root of an image together take about this many times the size of its download. Only used to make
 * room beforehand.
 */
const usualGrowth = 6;

/** Downloads and unpacks an image, and keeps it. Keeps nothing if any part of that fails. */
export async function pull({ name, key, image, registry, kept, limits, signal, note }: Pull): Promise<void> {
  const began = performance.now();
  const download = image.layers.reduce((sum, { size }) => sum + size, 0);
  // Until the image is unpacked, the disk holds each layer twice: as an archive and as files.
  await kept.makeRoom(Math.min(usualGrowth * download, 2 * limits.megabytes * mb) + 1024 * mb);
  const making = await kept.make(key);
  try {
    const layout = join(making.folder, 'layout');
    const blobs = join(layout, 'blobs/sha256');
    await mkdir(blobs, { recursive: true });
    note(`pulling ${name} (${image.digest}): ${image.layers.length} layers, ${inMb(download)}`);
    await fetchLayers({ name, layers: image.layers, registry, folder: blobs, limits, signal });
    const sizes = await sizesIn(blobs, image);
    await writeLayout(layout, image, sizes);
    await giveTo(making.folder);
    const size = [...sizes.values()].reduce((sum, each) => sum + each, 0);
    note(`unpacking ${inMb(size)}`);
    await unpack(making.folder, name, limits.megabytes * mb, signal);
    await rm(layout, { recursive: true });
    await takeBack(making.folder);
    if (!(await hasShell(join(making.folder, 'root'))))
      throw imageFailed(`${name} has no shell (/bin/sh), which commands need`);
    const { digest, env, workDir } = image;
    await making.keep({ digest, env, ...(workDir === undefined ? {} : { workDir }) });
    note(`the image is ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } finally {
    await making.discard();
  }
}

async function sizesIn(blobs: string, { layers }: RemoteImage): Promise<Map<string, number>> {
  const sizeOf = async ({ diffId }: { diffId: string }) => (await stat(join(blobs, diffId.slice(7)))).size;
  return new Map(await Promise.all(layers.map(async (layer) => [layer.diffId, await sizeOf(layer)] as const)));
}

/** Lets the user that unpacks images write to a folder. */
async function giveTo(folder: string): Promise<void> {
  if (process.getuid?.() === 0) await promisify(execFile)('chown', ['-hR', `${imageUser}:${imageUser}`, folder]);
}

/** Gives a folder, but not its contents, back to the service's user. */
async function takeBack(folder: string): Promise<void> {
  if (process.getuid?.() === 0) await lchown(folder, 0, 0);
  await chmod(folder, 0o755);
}

function inMb(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}

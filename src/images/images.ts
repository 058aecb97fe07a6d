import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, lchown, lstat, mkdir, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KeptImages } from './kept-images.ts';
import { fetchLayers, type ImageLimits } from './layers.ts';
import { asImageFailure, imageFailed, parseReference, type Reference, registryHost } from './reference.ts';
import type { Credentials } from './registry/authorize.ts';
import { RegistryClient, retried } from './registry/client.ts';
import { describeImage, type RemoteImage } from './registry/manifest.ts';
import { findUmoci, imageUser, unpack, writeLayout } from './unpack.ts';

/** Work that several callers wait for. It is aborted when the last of them has gone. */
interface Shared<T> {
  result: Promise<T>;
  waiting: number;
  abort: AbortController;
}

/** Returns a function that does work once for all who ask for the same key at the same time. */
export function sharedWork<T>() {
  const all = new Map<string, Shared<T>>();
  const begin = (key: string, work: (signal: AbortSignal) => Promise<T>): Shared<T> => {
    const abort = new AbortController();
    const result = work(abort.signal).finally(() => {
      if (all.get(key) === shared) all.delete(key);
    });
    const shared = { result, waiting: 0, abort };
    all.set(key, shared);
    return shared;
  };
  return async (key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const shared = all.get(key) ?? begin(key, work);
    shared.waiting += 1;
    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([shared.result, left]);
    } finally {
      signal.removeEventListener('abort', leave);
      shared.waiting -= 1;
      if (shared.waiting === 0) {
        // Later callers start new work instead of joining what is being aborted.
        if (all.get(key) === shared) all.delete(key);
        shared.abort.abort(signal.reason);
        await shared.result.catch(() => {});
      }
    }
  };
}

/** The unpacked root of an image. */
export interface ImageRoot {
  /** The digest of its manifest for this machine's processor. */
  digest: string;
  /** The folder of the root. Runs may read all of it. */
  root: string;
  /** The variables that the image sets, such as PATH. */
  env: Record<string, string>;
  workDir?: string | undefined;
}

/** The images that the commands of runs can use as their system. */
export interface Images {
  state: {
    /** Whether images can be used. */
    works: boolean;
    /** A sentence for the startup log and for `doctor`. */
    says: string;
  };
  /**
   * Returns an image and keeps it on this machine until it is released. Asks the registry each time, because a tag may
   * have moved, and because credentials may have been revoked. An image that is kept is used only for the registry,
   * repository and credentials with which it was pulled. `note` gets lines for the run's log. @throws RunFailed `setup`
   */
  take(
    reference: string,
    auth: Credentials | undefined,
    signal: AbortSignal,
    note: (line: string) => void,
  ): Promise<ImageRoot & { release(): void }>;
  /** Removes the least recently used images that no run uses, until at most `bytes` are kept. Returns what is kept. */
  trim(bytes: number): Promise<number>;
}

export interface ImagesOptions {
  /** Where images are kept. Its path must reveal nothing about this machine, because runs can read it. */
  folder: string;
  limits: ImageLimits;
  /** How much is kept, without what runs use. */
  keptBytes: number;
  /** The registry of names without one; may include a path. */
  defaultRegistry: string | undefined;
  /** Sends one request and follows no redirect. It must throw when the host's address is closed. */
  send: typeof fetch;
  /** Whether commands can run in sandboxes; images need the same mechanism. */
  hasSandbox: boolean;
  removeTree: (folder: string) => Promise<void>;
}

/** Longest time for the download of an image and for unpacking it. */
const pullMinutes = 30;
/** How many times an image is pulled if it is removed or changed before it can be used. */
const attempts = 3;

export async function openImages(options: ImagesOptions): Promise<Images> {
  const { folder, limits, keptBytes, defaultRegistry, send, removeTree } = options;
  const kept = new KeptImages(folder, removeTree);
  const pulls = sharedWork<void>();
  const state = await findState(options);
  const open = async (reference: Reference, credentials: Credentials | undefined, signal: AbortSignal, note: Note) => {
    const registry = new RegistryClient({ reference, credentials, send, signal });
    const { name } = reference;
    const image = await retried(() => describeImage(registry, reference, signal), signal);
    const key = keyOf(reference, image.digest, credentials);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const found = await kept.hold(key);
      if (found !== undefined) {
        // The image is held, so this removes only others. What is still in use is removed after a later pull.
        if (attempt > 0) await kept.trim(keptBytes).catch(() => {});
        return found;
      }
      await pulls(key, signal, (pulling) => {
        const all = AbortSignal.any([pulling, AbortSignal.timeout(pullMinutes * 60_000)]);
        return pull({ name, key, image, registry, kept, limits, signal: all, note });
      });
    }
    throw imageFailed(`${name} was removed or changed while it was prepared; see ${folder}`);
  };
  return {
    state,
    take: async (text, auth, signal, note) => {
      if (!state.works) throw imageFailed(`image: "${text}" cannot be used: ${state.says}`);
      const reference = parseReference(text, defaultRegistry);
      // Credentials for another registry are a mistake, even if this one demands none.
      auth?.openFor(registryHost(reference.registry) ?? reference.registry);
      try {
        const { release, bytes: _, key: __, ...image } = await open(reference, auth, signal, note);
        // If that fails, the mark of the image expires, and the next pull trims.
        const end = () => release().then(() => kept.trim(keptBytes));
        return { ...image, release: () => void end().catch(() => {}) };
      } catch (error) {
        signal.throwIfAborted();
        throw asImageFailure(error, `image: "${reference.name}" cannot be used`);
      }
    },
    trim: (bytes) => kept.trim(bytes),
  };
}

/**
 * Returns the name under which an image is kept: 64 hex digits. A digest alone does not prove that somebody may have the
 * image, because any registry can serve the manifest of an image that it does not have.
 */
function keyOf({ registry, repository }: Reference, digest: string, credentials: Credentials | undefined): string {
  const parts = [digest, registryHost(registry) ?? registry, repository, credentials?.version ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

type Note = (line: string) => void;

async function findState({ hasSandbox }: ImagesOptions): Promise<Images['state']> {
  const without = 'a repository with `image:` in .deckhand.yml fails with `setup`';
  if (!hasSandbox) return { works: false, says: `there is no sandbox for commands: ${without}` };
  const umoci = findUmoci();
  if (umoci === undefined) return { works: false, says: `umoci is not installed (apt-get install umoci): ${without}` };
  const version = await promisify(execFile)(umoci, ['--version'], { env: {} }).catch(() => undefined);
  if (version === undefined) return { works: false, says: `${umoci} does not start: ${without}` };
  return { works: true, says: `${version.stdout.trim()} unpacks the images that repositories ask for` };
}

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

interface Pull {
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
async function pull({ name, key, image, registry, kept, limits, signal, note }: Pull): Promise<void> {
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

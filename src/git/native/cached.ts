import { createHash, randomUUID } from 'node:crypto';
import { access, copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkOrCopy } from '../../host/link-or-copy.ts';
import { type Checkout, type GitEngine, GitFailed, type Remote } from '../engine.ts';

/** Size of all caches of a worker together. When they exceed it, the least recently used ones are evicted. */
const maxBytes = 2_000_000_000;
/**
 * Each fetch adds a pack, and many packs slow git down. When a cache has more packs than this, the next run starts with
 * a fresh clone.
 */
const maxPacks = 30;
/** Temporary folders of an interrupted cache update are removed at this age. */
const leftoverMs = 3_600_000;

/** Returns the name of a repository's cache. It contains the `scope`, because projects share no cache. */
function cacheKey({ url, scope }: Remote): string {
  return createHash('sha256').update(`${scope}\n${url}`).digest('hex').slice(0, 40);
}

const cachedRef = 'refs/cache/head';

/**
 * Hard-links the objects of a cache into an empty repository. The links take no space and survive the eviction of the
 * cache. Returns the commit that the repository then has, or undefined when there is no cache.
 */
async function fillFromCache(place: string, gitDir: string): Promise<string | undefined> {
  const packs = await readdir(join(place, 'pack')).catch(() => []);
  if (packs.length === 0) return undefined;
  await mkdir(join(gitDir, 'objects/pack'), { recursive: true });
  for (const name of packs) await shareObject(join(place, 'pack', name), join(gitDir, 'objects/pack', name));
  await writeFile(join(gitDir, 'shallow'), await readFile(join(place, 'shallow'), 'utf8'));
  await mkdir(join(gitDir, 'refs/cache'), { recursive: true });
  // Git reports the commits of its refs to the remote, which then sends only newer objects.
  const head = await readFile(join(place, 'head'), 'utf8');
  await writeFile(join(gitDir, cachedRef), head);
  const now = new Date();
  await utimes(place, now, now);
  return head.trim();
}

/** Empties a repository that was filled from a cache. If the cache's path is given, removes the cache too. */
async function removeFilled(gitDir: string, place?: string): Promise<undefined> {
  if (place !== undefined) await rm(place, { recursive: true, force: true });
  for (const path of ['objects/pack', 'refs/cache', 'shallow', 'shallow.lock'])
    await rm(join(gitDir, path), { recursive: true, force: true });
  await mkdir(join(gitDir, 'objects/pack'), { recursive: true });
  return undefined;
}

/**
 * Stores the current objects of a repository as the cache for the next run. Returns whether the cache changed, so that it
 * may have grown.
 */
async function storeInCache(gitDir: string, place: string, head: string): Promise<boolean> {
  const source = join(gitDir, 'objects/pack');
  const packs = (await readdir(source)).filter((name) => /\.(pack|idx|rev)$/.test(name));
  const count = packs.filter((name) => name.endsWith('.pack')).length;
  // If there is no pack, nothing was fetched.
  if (count === 0 || !(await isThere(join(gitDir, 'shallow')))) return false;
  const isSame = (await readFile(join(place, 'head'), 'utf8').catch(() => '')).trim() === head;
  if (isSame) return false;
  if (count > maxPacks) {
    await rm(place, { recursive: true, force: true });
    return true;
  }
  const next = `${place}.${randomUUID()}`;
  await mkdir(join(next, 'pack'), { recursive: true, mode: 0o700 });
  for (const name of packs) await shareObject(join(source, name), join(next, 'pack', name));
  await copyFile(join(gitDir, 'shallow'), join(next, 'shallow'));
  await writeFile(join(next, 'head'), `${head}\n`);
  const old = `${place}.${randomUUID()}`;
  await rename(place, old).catch(() => {});
  // The rename fails when another worker has stored its cache there first. That cache is just as good.
  await rename(next, place).catch(() => rm(next, { recursive: true, force: true }));
  await rm(old, { recursive: true, force: true });
  return true;
}

/** Evicts the least recently used caches until the rest fits. */
export async function shrinkCaches(folder: string): Promise<void> {
  const caches = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const usedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
    // The names of temporary folders contain a dot (see storeInCache).
    if (name.includes('.') && usedAt < Date.now() - leftoverMs) await rm(path, { recursive: true, force: true });
    else caches.push({ path, bytes: await packBytes(path), usedAt });
  }
  let left = maxBytes;
  for (const { path, bytes } of caches.sort((a, b) => b.usedAt - a.usedAt)) {
    left -= bytes;
    if (left < 0) await rm(path, { recursive: true, force: true });
  }
}

/** Returns the bytes of the packs in a folder of objects or a cache. */
export async function packBytes(place: string): Promise<number> {
  let bytes = 0;
  for (const file of await readdir(join(place, 'pack')).catch(() => []))
    bytes += (await stat(join(place, 'pack', file)).catch(() => undefined))?.size ?? 0;
  return bytes;
}

/** Another worker may have put the same object there. */
async function shareObject(from: string, to: string): Promise<void> {
  await linkOrCopy(from, to).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Wraps an engine with a cache of fetched objects, so that a second run on a repository fetches only newer ones. A
 * cache is never modified: each checkout writes a new one and renames it into place, so concurrent runs do not
 * interfere. If a cache is damaged, it is removed, everything is fetched again, and `say` is called with the error.
 */
export function cached(engine: GitEngine, folder: string, say: (error: unknown) => void = () => {}): GitEngine {
  return {
    ...engine,
    open: async (remote, folders, signal) => {
      const checkout = await engine.open(remote, folders, signal);
      if (remote.scope === undefined) return checkout;
      const cache = new CheckoutCache(checkout, join(folder, cacheKey(remote)), signal, say);
      await cache.fill();
      return {
        ...checkout,
        fetch: (branch) => cache.fetch(branch),
        checkout: async (commit) => {
          await cache.checkout(commit);
          await cache.storeOnce(commit, folder);
        },
      };
    },
  };
}

/** A checkout that may have been filled from a cache, and its recovery when that cache is damaged. */
class CheckoutCache {
  readonly #inner: Checkout;
  readonly #place: string;
  readonly #signal: AbortSignal | undefined;
  readonly #say: (error: unknown) => void;
  readonly #fetched = new Set<string>();
  /** True while the repository contains objects of the cache and not all of them are known to be readable. */
  #isDoubtful = false;
  #isStored = false;

  constructor(inner: Checkout, place: string, signal: AbortSignal | undefined, say: (error: unknown) => void) {
    this.#inner = inner;
    this.#place = place;
    this.#signal = signal;
    this.#say = say;
  }

  /** Fills the empty repository from the cache if there is a usable one. */
  async fill(): Promise<void> {
    const { gitDir } = this.#inner;
    // Another worker may replace the cache while it is being copied; a partial copy is discarded.
    const head = await fillFromCache(this.#place, gitDir).catch(() => removeFilled(gitDir));
    if (head === undefined) return;
    try {
      await this.#inner.treeOf(head);
      this.#isDoubtful = true;
    } catch (error) {
      await this.#startOver(error);
    }
  }

  async fetch(branch: string): Promise<string | undefined> {
    const found = await this.#orWithoutCache(() => this.#inner.fetch(branch));
    if (found !== undefined) this.#fetched.add(branch);
    return found;
  }

  async checkout(commit: string): Promise<void> {
    await this.#orWithoutCache(() => this.#inner.checkout(commit));
    // Every file could be read, so a later failure is not caused by the cache.
    this.#isDoubtful = false;
  }

  /**
   * Caches the repository's objects after the first checkout. If that fails, the next run is slower but this run is not
   * affected.
   */
  async storeOnce(commit: string, folder: string): Promise<void> {
    if (this.#isStored) return;
    this.#isStored = true;
    await storeInCache(this.#inner.gitDir, this.#place, commit)
      .then((hasChanged) => (hasChanged ? shrinkCaches(folder) : undefined))
      .catch(this.#say);
  }

  /** Runs an operation. If it fails because objects cannot be read, repeats it without the cache. */
  async #orWithoutCache<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const isUnreadable = error instanceof GitFailed && error.fault === 'broken';
      if (!this.#isDoubtful || this.#signal?.aborted || !isUnreadable) throw error;
      await this.#startOver(error);
      return act();
    }
  }

  /** Removes the cache and all objects that came from it, then repeats all fetches made so far. */
  async #startOver(error: unknown): Promise<void> {
    this.#say(error);
    this.#isDoubtful = false;
    await removeFilled(this.#inner.gitDir, this.#place);
    for (const branch of this.#fetched) await this.#inner.fetch(branch);
  }
}

import { join } from 'node:path';
import { type Checkout, type GitEngine, GitFailed } from '../engine.ts';
import { cacheKey, fillFromCache, removeFilled, shrinkCaches, storeInCache } from './cache-folder.ts';

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

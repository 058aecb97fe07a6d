import { join } from 'node:path';
import { type Checkout, type GitEngine, GitFailed } from '../engine.ts';
import { cacheKey, fillFromCache, removeFilled, shrinkCaches, storeInCache } from './cache-folder.ts';

/**
 * The same engine with a cache of what was fetched, so that a second run on a repository fetches only what is new. A
 * cache is never changed: each checkout leaves a new one, which a rename puts in place, so runs at the same time do not
 * disturb each other. A damaged cache is removed and everything is fetched. `say` is told about that.
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

/** A checkout that may have been filled from a cache, and what to do when the cache turns out to be damaged. */
class CheckoutCache {
  readonly #inner: Checkout;
  readonly #place: string;
  readonly #signal: AbortSignal | undefined;
  readonly #say: (error: unknown) => void;
  readonly #fetched = new Set<string>();
  /** The repository holds objects of the cache, and nothing has shown yet that all of them can be read. */
  #isDoubtful = false;
  #isStored = false;

  constructor(inner: Checkout, place: string, signal: AbortSignal | undefined, say: (error: unknown) => void) {
    this.#inner = inner;
    this.#place = place;
    this.#signal = signal;
    this.#say = say;
  }

  /** Fills the empty repository from the cache, if there is a good one. */
  async fill(): Promise<void> {
    const { gitDir } = this.#inner;
    // Another worker may replace the cache while it is copied; a partial copy is discarded.
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
    // Every file could be read, so later failures have another cause than the cache.
    this.#isDoubtful = false;
  }

  /** Stores what the repository holds after the first checkout. A failure costs the next run time, and this one nothing. */
  async storeOnce(commit: string, folder: string): Promise<void> {
    if (this.#isStored) return;
    this.#isStored = true;
    await storeInCache(this.#inner.gitDir, this.#place, commit)
      .then(() => shrinkCaches(folder))
      .catch(this.#say);
  }

  /** When an operation fails because objects cannot be read, repeats it without the cache. */
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

  /** Removes the cache and what came from it, and fetches from the remote again what had been fetched so far. */
  async #startOver(error: unknown): Promise<void> {
    this.#say(error);
    this.#isDoubtful = false;
    await removeFilled(this.#inner.gitDir, this.#place);
    for (const branch of this.#fetched) await this.#inner.fetch(branch);
  }
}

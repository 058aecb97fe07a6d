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

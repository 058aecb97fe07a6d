/** More results than this are not kept. */
const maxKept = 500;

interface Kept<T> {
  at: number;
  result: Promise<T>;
}

/** Returns a function that does the work for a key at most once in `ms`, for all callers. It does not keep failures. */
export function rememberFor<T>(ms: number, now: () => number = Date.now) {
  const all = new Map<string, Kept<T>>();
  return (key: string, work: () => Promise<T>): Promise<T> => {
    for (const [old, { at }] of all) {
      // The map is in the order in which the work began.
      if (now() - at < ms && all.size < maxKept) break;
      all.delete(old);
    }
    const known = all.get(key);
    if (known !== undefined) return known.result;
    const kept = { at: now(), result: work() };
    all.set(key, kept);
    kept.result.catch(() => {
      if (all.get(key) === kept) all.delete(key);
    });
    return kept.result;
  };
}

/**
 * Returns a function that computes each result once, and remembers the latest `most` of them by their keys. Calls at the
 * same time share one computation. A failed one is repeated by the next call.
 */
export function sharedResults<T>(most: number): (key: string, compute: () => Promise<T>) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (key, compute) => {
    const result = known.get(key) ?? compute();
    // Used last, so forgotten last.
    known.delete(key);
    known.set(key, result);
    for (const oldest of known.keys()) if (known.size > most) known.delete(oldest);
    result.catch(() => known.get(key) === result && known.delete(key));
    return result;
  };
}

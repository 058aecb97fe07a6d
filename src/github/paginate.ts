/**
 * Yields the items of a paged response from GitHub. Holds one page in memory at a time, because all pages together may
 * be hundreds of megabytes.
 */
export async function* itemsOf<T>(pages: AsyncIterable<{ data: T[] }>): AsyncIterable<T> {
  for await (const { data } of pages) yield* data;
}

/** Finds the first item that matches. Reads no page after the one that contains it. */
export async function findItem<T>(
  pages: AsyncIterable<{ data: T[] }>,
  fits: (item: T) => boolean | undefined,
): Promise<T | undefined> {
  for await (const item of itemsOf(pages)) if (fits(item)) return item;
  return undefined;
}

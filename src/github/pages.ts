/** The items of a paged answer of GitHub. One page is in memory at a time: all pages may be hundreds of megabytes. */
export async function* itemsOf<T>(pages: AsyncIterable<{ data: T[] }>): AsyncIterable<T> {
  for await (const { data } of pages) yield* data;
}

/** The first item that fits. No page is read beyond the one that holds it. */
export async function findItem<T>(
  pages: AsyncIterable<{ data: T[] }>,
  fits: (item: T) => boolean | undefined,
): Promise<T | undefined> {
  for await (const item of itemsOf(pages)) if (fits(item)) return item;
  return undefined;
}

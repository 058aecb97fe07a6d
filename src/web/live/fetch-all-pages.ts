const pageSize = 100;
const parallelPages = 4;

/**
 * The service cuts a page at 5 MB. A page of more characters than this may have been cut, unless one item alone has almost
 * 5 MB.
 */
const cutChars = 100_000;

/** Returns whether the list may go on after a page. */
export function mayGoOn(page: readonly unknown[], limit: number): boolean {
  return page.length === limit || (page.length > 0 && JSON.stringify(page).length > cutChars);
}

/** Fetches a whole list, a few pages at a time. An item that moves between pages while they load is included once. */
export async function fetchAllPages<T extends { id: string }>(
  fetchPage: (page: { limit: number; offset: number }) => Promise<T[]>,
): Promise<T[]> {
  const found = new Map<string, T>();
  let offset = 0;
  for (let count = 1; ; ) {
    const offsets = Array.from({ length: count }, (_, i) => offset + i * pageSize);
    const pages = await Promise.all(offsets.map((from) => fetchPage({ limit: pageSize, offset: from })));
    const short = pages.findIndex((page) => page.length < pageSize);
    const last = pages[short] ?? [];
    for (const item of pages.slice(0, short < 0 ? count : short + 1).flat()) found.set(item.id, item);
    if (short >= 0 && !mayGoOn(last, pageSize)) return [...found.values()];
    // What follows a page that was cut is fetched page by page.
    offset += short < 0 ? count * pageSize : short * pageSize + last.length;
    count = short < 0 ? parallelPages : 1;
  }
}

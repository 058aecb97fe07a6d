const pageSize = 100;
const parallelPages = 4;

/** Fetches a whole list, a few pages at a time. An item that moves between pages while they load is included once. */
export async function fetchAllPages<T extends { id: string }>(
  fetchPage: (page: { limit: number; offset: number }) => Promise<T[]>,
): Promise<T[]> {
  const found = new Map<string, T>();
  for (let offset = 0; ; offset += parallelPages * pageSize) {
    const first = await fetchPage({ limit: pageSize, offset });
    for (const item of first) found.set(item.id, item);
    if (first.length < pageSize) break;
    const offsets = Array.from({ length: parallelPages - 1 }, (_, i) => offset + (i + 1) * pageSize);
    const more = await Promise.all(offsets.map((from) => fetchPage({ limit: pageSize, offset: from })));
    for (const item of more.flat()) found.set(item.id, item);
    if ((more.at(-1)?.length ?? 0) < pageSize) break;
  }
  return [...found.values()];
}

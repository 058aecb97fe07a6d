import * as api from '../api.ts';

const listPageSize = 100;
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
    const offsets = Array.from({ length: count }, (_, i) => offset + i * listPageSize);
    const pages = await Promise.all(offsets.map((from) => fetchPage({ limit: listPageSize, offset: from })));
    const short = pages.findIndex((page) => page.length < listPageSize);
    const last = pages[short] ?? [];
    for (const item of pages.slice(0, short < 0 ? count : short + 1).flat()) found.set(item.id, item);
    if (short >= 0 && !mayGoOn(last, listPageSize)) return [...found.values()];
    // What follows a page that was cut is fetched page by page.
    offset += short < 0 ? count * listPageSize : short * listPageSize + last.length;
    count = short < 0 ? parallelPages : 1;
  }
}

/** Tasks of one reply of the service, and about the most that a board shows. */
const [pageSize, maxCards] = [2000, 20_000];

/** Fetches a whole board. A task that moves to the next page while the pages load is included once. */
export async function fetchBoard(projectId: string): Promise<api.Board> {
  let last = await api.getBoard(projectId, { limit: pageSize });
  const found = new Map(last.tasks.map((card) => [card.id, card]));
  // The service cuts a page at 5 MB, so the next one begins where it ended.
  let offset = last.tasks.length;
  while (last.tasks.length > 0 && offset < Math.min(last.total, maxCards)) {
    last = await api.getBoard(projectId, { limit: pageSize, offset });
    for (const card of last.tasks) found.set(card.id, card);
    offset += last.tasks.length;
  }
  return { ...last, tasks: [...found.values()] };
}

/**
 * Returns a board with the changes of a reply that was asked for tasks and runs with these ids. Tasks that were asked for but
 * are missing in the reply are deleted. A card that the page has in a newer version stays, and so does every object that has
 * not changed, because a card is only rendered again when its object differs.
 */
export function mergeBoard(board: api.Board, asked: readonly string[], reply: api.Board): api.Board {
  const changed = new Map(reply.tasks.map((card) => [card.id, card]));
  const gone = new Set(asked.filter((id) => !changed.has(id)));
  const kept = board.tasks
    .filter(({ id }) => !gone.has(id))
    .map((card) => {
      const next = changed.get(card.id);
      changed.delete(card.id);
      return next === undefined ? card : newerOf(card, next);
    });
  const added = [...changed.values()];
  return {
    total: reply.total,
    tasks: added.length === 0 ? kept : [...added, ...kept].sort(compareTasks),
    agents: same(board.agents, reply.agents),
    people: same(board.people, reply.people),
    sprints: same(board.sprints, reply.sprints),
  };
}

function newerOf(card: api.TaskCard, next: api.TaskCard): api.TaskCard {
  return Date.parse(card.updatedAt) > Date.parse(next.updatedAt) ? card : same(card, next);
}

/** Returns the first value if both are equal. */
const same = <T>(before: T, after: T): T => (JSON.stringify(before) === JSON.stringify(after) ? before : after);

/**
 * Compares two tasks by the order in which the service lists them: newest first, and those that were created together as
 * they were given. The times have a fixed format, so comparing them as text is enough.
 */
export function compareTasks(a: api.TaskCard, b: api.TaskCard): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

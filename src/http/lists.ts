import type { Request } from 'express';
import { z } from 'zod';
import type { App } from '../app.ts';
import { FairTurns } from '../host/fair-turns.ts';
import type { Route } from './route.ts';

/** A list stops before the item with which it would be larger. Pages of 100 tasks with long descriptions are. */
const maxListBytes = 5 * 1024 * 1024;
/** A list without a limit stops once it has been read for this long, because it holds a connection to the database. */
const maxReadMs = 2000;
/** Items read at once of a list without a limit, which may have thousands. */
const portion = 100;

/** The page that a request asks for. Without a limit it asks for the whole list. */
export interface Page {
  limit?: number | undefined;
  offset: number;
}

/** The items of a list that one reply has, as JSON. */
interface ListPart {
  text: string;
  count: number;
  hasMore: boolean;
  /** Further items of the page did not fit. */
  isCut: boolean;
}

const isCutPage = Symbol('page ends before its limit');

/** Marks the items of a page that ends before its limit, because reading more of them would take too long. */
export function cutPage<T extends object>(items: T): T {
  return Object.assign(items, { [isCutPage]: true });
}

/**
 * Reads a list and serializes as many of its items as `maxBytes` allow, at least one, with only the properties that the
 * route declares. Without a limit, the list is read in portions of one snapshot, for about `maxMs`, so that a long
 * list is never in memory and leaves the connection to others.
 */
export async function readList(
  app: App,
  declared: Route,
  input: { query: unknown },
  { maxBytes = maxListBytes, maxMs = maxReadMs } = {},
): Promise<ListPart> {
  const { limit = portion, offset, ...filter } = input.query as Page;
  const isWhole = (input.query as Page).limit === undefined;
  const read = async (page: Page) => {
    const query = { ...filter, ...page };
    return (await declared.handle(app, { ...input, query, body: undefined })) as unknown[];
  };
  const rows = await read({ limit, offset });
  if (!isWhole || rows.length <= portion) {
    const list = new ListText(shapeOf(declared), maxBytes);
    list.add(rows.slice(0, limit));
    list.isFull ||= isCutPage in rows;
    return list.part(rows.length > limit);
  }
  // Otherwise a new item could move others from one portion to the next.
  return app.db.snapshot(async () => {
    const list = new ListText(shapeOf(declared), maxBytes);
    const endsAt = performance.now() + maxMs;
    for (let at = offset; !list.isFull; at += portion) {
      const more = await read({ limit: portion, offset: at });
      list.add(more.slice(0, portion));
      if (more.length <= portion) return list.part(false);
      list.isFull ||= performance.now() > endsAt;
    }
    return list.part(false);
  });
}

/** Without these, one turn of the event loop would serialize a portion of every list that is asked for at that time. */
const portions = new FairTurns();

/**
 * Makes items of rows and serializes as many as a list in one reply may have, for a reply that has more than the list. Others have
 * their turn in between: a large list takes a tenth of a second. Lists with different keys take turns.
 */
export async function listText<Row>(
  key: string,
  shape: z.ZodArray,
  rows: Row[],
  toItem: (row: Row) => unknown,
): Promise<string> {
  const list = new ListText(shape, maxListBytes);
  const whenItIsTime = <T>(act: () => Promise<T>) =>
    new Promise<T>((resolve) => portions.add(key, () => resolve(act())));
  for (let at = 0; at < rows.length && !list.isFull; at += portion)
    await whenItIsTime(async () => list.add(rows.slice(at, at + portion).map(toItem)));
  // Lists that began together end together, and what their callers do with megabytes takes as long as several portions.
  return whenItIsTime(async () => list.part(false).text);
}

function shapeOf({ reply: [, shape] }: Route): z.ZodType {
  return shape ?? z.array(z.unknown());
}

/** The beginning of a list as JSON. */
class ListText {
  readonly #shape: z.ZodType;
  readonly #texts: string[] = [];
  #left: number;
  isFull = false;

  constructor(shape: z.ZodType, maxBytes: number) {
    this.#shape = shape;
    this.#left = maxBytes - '[]'.length;
  }

  /** Adds as many of the items as there is space for. The first item of a list always fits. */
  add(rows: unknown[]): void {
    for (const item of this.#shape.parse(rows) as unknown[]) {
      const text = JSON.stringify(item);
      this.#left -= Buffer.byteLength(text) + ','.length;
      this.isFull ||= this.#left < 0 && this.#texts.length > 0;
      if (this.isFull) return;
      this.#texts.push(text);
    }
  }

  part(hasMore: boolean): ListPart {
    const [text, count] = [`[${this.#texts.join(',')}]`, this.#texts.length];
    return { text, count, hasMore: hasMore || this.isFull, isCut: this.isFull };
  }
}

/** Returns the `Link` header (RFC 8288): the next page begins after the last item that was sent. */
export function linksOf(req: Request, { limit, offset }: Page, { count, hasMore }: ListPart): string {
  const link = (rel: string, at: number) => {
    const query = new URLSearchParams(req.query as Record<string, string>);
    if (limit !== undefined) query.set('limit', String(limit));
    query.set('offset', String(at));
    return `<${req.baseUrl}${req.path}?${query}>; rel="${rel}"`;
  };
  const links = [];
  if (hasMore) links.push(link('next', offset + count));
  if (offset > 0 && limit !== undefined) links.push(link('prev', Math.max(0, offset - limit)));
  return links.join(', ');
}

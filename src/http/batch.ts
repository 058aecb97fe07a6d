import { z } from 'zod';
import type { App } from '../app.ts';
import { AppError } from '../errors.ts';
import { anyUser } from './access/access.ts';
import { enter } from './access/scope.ts';
import { knownError, replyOf } from './error-reply.ts';
import { readList } from './lists.ts';
import { validated } from './request.ts';
import { type Route, route, Serialized } from './route.ts';

class DoesNotFit extends AppError {
  constructor() {
    super(413, 'The replies to this batch are too large together; read this address with its own request');
  }
}

/** What to read, as the caller with this token, and how long the reply may be. */
interface Asked {
  tokenId: string;
  address: string;
  maxBytes: number;
}

/** Reads one address and returns the status and the body as JSON. Refusals are replies, too. */
type Reader = (app: App, asked: Asked) => Promise<{ status: number; body: string }>;

/** Returns a function that answers reads of these routes like requests of their own. */
function readerOf(routes: readonly Route[]): Reader {
  const reads = routes.filter(mayBeBatched).map((declared) => ({ declared, pattern: patternOf(declared.path) }));
  const find: Find = (path) => {
    for (const { declared, pattern } of reads) {
      const match = pattern.exec(path);
      if (match !== null) return { declared, params: decoded(match.groups ?? {}) };
    }
    throw new AppError(404, 'No such address');
  };
  return async (app, asked) => {
    try {
      return await read(app, asked, find);
    } catch (error) {
      const known = knownError(error);
      if (known.status >= 500) app.log.error({ err: error, address: asked.address.split('?')[0] }, 'read failed');
      return { status: known.status, body: JSON.stringify(replyOf(known)) };
    }
  };
}

/** Returns whether a route answers reads that a batch may have; the others need requests of their own. */
export function mayBeBatched({ method, access, isStream, costs, waits, counts }: Route): boolean {
  const isCheap = costs === undefined && waits === undefined && counts === undefined;
  return method === 'get' && access.kind !== 'public' && !isStream && isCheap;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`);
}

function decoded(groups: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new AppError(404, 'No such address');
  }
}

type Find = (path: string) => { declared: Route; params: Record<string, string> };

async function read(app: App, { tokenId, address, maxBytes }: Asked, find: Find) {
  if (maxBytes <= 0) throw new DoesNotFit();
  const [path = '', search = ''] = address.split('?', 2);
  const { declared, params } = find(path);
  const query = queryOf(search);
  const context = await enter(app, declared, { tokenId, params, body: undefined, query });
  const input = { ...context, query: validated(declared, 'query', query), body: undefined };
  const body = await bodyOf(app, declared, input, maxBytes);
  if (body === undefined || Buffer.byteLength(body) > maxBytes) throw new DoesNotFit();
  return { status: declared.reply[0], body };
}

/** Returns the body of the reply, or undefined for a list that is too long. */
async function bodyOf(app: App, declared: Route, input: { query: unknown; body: undefined }, maxBytes: number) {
  if (declared.paged) {
    const { text, isCut } = await readList(app, declared, input, { maxBytes });
    return isCut ? undefined : text;
  }
  const result = await declared.handle(app, input);
  return result instanceof Serialized ? result.text : JSON.stringify(declared.reply[1]?.parse(result));
}

/** Parses a query like Express: a repeated parameter is a list. */
function queryOf(search: string): Record<string, unknown> {
  const params = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

/** The most reads of one request. */
const maxReads = 20;
/** The most bytes of a reply. The first read whose reply does not fit gets 413, and so do those after it, unread. */
const maxBytes = 2 * 1024 * 1024;
/** Space for the statuses of all reads, and for the messages of refused ones. */
const frameBytes = maxReads * 2048;

const BatchQuery = z.strictObject({
  get: z
    .union([z.string(), z.array(z.string())], `must have 1 to ${maxReads} addresses`)
    .transform((given) => [given].flat())
    .refine((list) => list.length <= maxReads, `must have 1 to ${maxReads} addresses`)
    .meta({
      override: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: maxReads },
      description: 'addresses below /api/v1, such as /me and /tasks/:id/runs?limit=100',
    }),
});

const BatchReply = z.object({ status: z.int(), body: z.unknown() }).meta({
  id: 'BatchReply',
  description: `The reply that a request to the address would get, or 413 if it does not fit: a batch has at most ${maxBytes >> 20} MB`,
});

/**
 * Returns the route that answers several reads with one request. Each read is checked like a request of its own, and counts
 * as one against the limits. Streams, reads that wait for GitHub, git hosts or models, those that count as several requests, and
 * replies that do not fit need requests of their own.
 */
export function batchRoute(routes: readonly Route[]): Route {
  const read = readerOf(routes);
  return route({
    operationId: 'readSeveral',
    method: 'get',
    path: '/batch',
    summary: `Read several addresses with one request, at most ${maxReads}; the replies are in the same order`,
    guide: null,
    tag: 'projects',
    access: anyUser,
    query: BatchQuery,
    counts: ({ get }) => (Array.isArray(get) ? Math.min(get.length, maxReads) : 1),
    reply: [200, z.array(BatchReply)],
    handle: async (app, { user, query }) => {
      const replies: string[] = [];
      let left = maxBytes - frameBytes;
      for (const address of query.get) {
        const { status, body } = await read(app, { tokenId: user.tokenId, address, maxBytes: left });
        left = status === 413 ? 0 : left - Buffer.byteLength(body);
        replies.push(`{"status":${status},"body":${body}}`);
      }
      return new Serialized(`[${replies.join(',')}]`);
    },
  });
}

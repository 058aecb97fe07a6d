import { z } from 'zod';
import { anyUser } from '../access/access.ts';
import { type Route, route, Serialized } from '../route.ts';
import { readerOf } from './read.ts';

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
 * as one against the limits. Streams, reads that wait for GitHub, git hosts or models, and replies that do not fit need requests
 * of their own.
 */
export function batchRoute(routes: readonly Route[]): Route {
  const read = readerOf(routes);
  return route({
    operationId: 'readSeveral',
    method: 'get',
    path: '/batch',
    summary: `Read several addresses with one request, at most ${maxReads}; the replies are in the same order`,
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

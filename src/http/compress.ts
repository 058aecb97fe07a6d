import compression from 'compression';
import type { RequestHandler, Response } from 'express';

/**
 * Replies that may be compressed at the same time, each with up to 1.2 MB of tables. Further replies are sent
 * uncompressed, so that clients that read slowly cannot use up the memory.
 */
export const maxAtOnce = 50;

/** Compresses replies of 1 kB or more with Brotli or gzip, depending on what the client accepts. */
export function compressed(): RequestHandler {
  let underWay = 0;
  return compression({
    filter: (req, res) => {
      if (!compression.filter(req, res) || !mayBeHeldBack(res) || underWay >= maxAtOnce) return false;
      underWay += 1;
      res.once('close', () => {
        underWay -= 1;
      });
      return true;
    },
  });
}

/**
 * Returns whether a reply may be compressed. A compressor buffers data until it has enough or the reply ends, which would
 * delay events and the replies of closing connections.
 */
function mayBeHeldBack(res: Response): boolean {
  const isEvents = String(res.getHeader('Content-Type')).startsWith('text/event-stream');
  // The reply to an unread body must be sent completely before its connection is closed.
  const closes = res.getHeader('Connection') === 'close';
  return !isEvents && !closes;
}

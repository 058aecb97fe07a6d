import compression from 'compression';
import type { RequestHandler, Response } from 'express';

/**
 * Replies being compressed at once, each with up to 1.2 MB of tables. Beyond it replies are sent as they are, so that
 * clients that read slowly cannot use up the memory.
 */
export const maxAtOnce = 50;

/** Compresses replies of 1 kB and more with Brotli or gzip, as the client accepts. */
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

/** A compressor holds back what it is given until it has enough or the reply ends. */
function mayBeHeldBack(res: Response): boolean {
  const isEvents = String(res.getHeader('Content-Type')).startsWith('text/event-stream');
  // An answer to an unread body must be complete before its connection is closed.
  const closes = res.getHeader('Connection') === 'close';
  return !isEvents && !closes;
}

import type { Socket } from 'node:net';

/** A socket of Node with its parser, which calls this for each request. What it returns ends the parsing for `upgrade`. */
type Parsed = Socket & { parser?: { onIncoming?: () => number } | null };
const upgrade = 2;

/**
 * Ends a connection, and the parsing of what was read. Otherwise Node would parse all of it, 64 kB of each of hundreds of connections
 * in one turn of the event loop: with 2,000 requests in each, that takes a minute. Node has no public interface for it.
 */
export function endNow(socket: Parsed): void {
  if (socket.parser) socket.parser.onIncoming = () => upgrade;
  socket.destroy();
}

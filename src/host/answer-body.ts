import type { IncomingMessage } from 'node:http';

/** A server sent a body in so many small chunks that reading them would take too long. */
export class TooManyChunks extends Error {
  constructor() {
    super('the answer consists of too many small chunks');
    this.name = 'TooManyChunks';
  }
}

/** What a server may send besides a body: up to half as much as the body, and this many bytes. */
const framing = { bytes: 50_000, ratio: 0.5 };

/**
 * Yields the body of a response of somebody's server. What has arrived is read at once, because each chunk costs time and memory,
 * and a server may send chunks of one byte.
 * @throws TooManyChunks, or what `answer` was destroyed with
 */
export async function* bodyOf(answer: IncomingMessage): AsyncGenerator<Buffer, undefined> {
  const { socket } = answer;
  const before = socket.bytesRead;
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // What follows the head of the response is among the bytes that were read before. It is less than is allowed.
    if (socket.bytesRead - before - bytes > Math.max(framing.bytes, framing.ratio * bytes)) throw new TooManyChunks();
    yield chunk;
  }
}

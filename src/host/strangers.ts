import type { ClientRequest, IncomingMessage } from 'node:http';
import { DEFAULT_CIPHERS } from 'node:tls';

// What servers may do that people name, and not only the operator: each of these costs processor time that no limit of bytes counts.

/** Without Diffie-Hellman over numbers that the server chooses: with 10,000 bits, one handshake takes 0.8 s. Servers have others. */
export const ciphers = `${DEFAULT_CIPHERS}:!kDHE`;

/** The most session tickets of TLS before a response. Servers send up to four. */
const maxTickets = 50;

/** The most responses such as `103 Early Hints` before the real one. Servers send one or two. */
const maxInformational = 20;

/** A server sent something without end before its response. */
export class EndlessPreface extends Error {
  constructor(what: string) {
    super(`the server sent ${what} without end`);
    this.name = 'EndlessPreface';
  }
}

/** How many records of TLS a server may send: these, and one more for each so many bytes. */
const records = { free: 2000, bytes: 32 };

/** Returns a function that takes note of each record, and calls `fail` when they are too many and too small. */
export function countRecords(fail: (error: Error) => void): (record: Uint8Array) => void {
  let [count, bytes] = [0, 0];
  return ({ length }) => {
    count += 1;
    bytes += length;
    if (count > records.free + bytes / records.bytes) fail(new TooManyChunks());
  };
}

/** Returns a function that counts session tickets, and calls `fail` for each one that is too many. */
export function countTickets(fail: (error: EndlessPreface) => void): () => void {
  return upTo(maxTickets, 'session tickets', fail);
}

function upTo(most: number, what: string, fail: (error: EndlessPreface) => void): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > most) fail(new EndlessPreface(what));
  };
}

/**
 * Calls `fail` when a request ends without a response. When a server switches to another protocol (101) unasked, Node emits only
 * `close`, and neither `response` nor `error`. A request is destroyed with `EndlessPreface` when informational responses or session
 * tickets do not end. `fail` is also called after a response, so it should be the `reject` of a promise that is settled by then.
 */
export function whenUnanswered(sent: ClientRequest, fail: (error: Error) => void): void {
  const destroy = (error: Error) => sent.destroy(error);
  sent.on('information', upTo(maxInformational, 'informational responses', destroy));
  sent.once('socket', (socket) => {
    const onSession = countTickets(destroy);
    socket.on('session', onSession);
    // The socket may be used for further requests.
    sent.once('close', () => socket.off('session', onSession));
  });
  sent.once('close', () => fail(new Error('the server closed the connection without a response')));
}

/** A server sent a body in so many small chunks that reading them would take too long. */
export class TooManyChunks extends Error {
  constructor() {
    super('the answer consists of too many small chunks');
    this.name = 'TooManyChunks';
  }
}

/** How many bytes a server may send besides a body: half as many as the body has, or this many. */
const framing = { bytes: 50_000, ratio: 0.5 };

/**
 * Yields the body of a response. What has arrived is read together, because each chunk costs time and memory, and a server may send
 * chunks of one byte.
 * @throws TooManyChunks, or what `answer` was destroyed with
 */
export async function* bodyOf(answer: IncomingMessage): AsyncGenerator<Buffer, undefined> {
  const { socket } = answer;
  // What waits in the connection is not read yet.
  const read = () => socket.bytesRead - socket.readableLength;
  const before = read();
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // A part of the body may have arrived with its head, and counts as read before. That only allows a little more.
    if (read() - before - bytes > Math.max(framing.bytes, framing.ratio * bytes)) throw new TooManyChunks();
    yield chunk;
  }
}

import type { UnderlyingSource } from 'node:stream/web';
import { AnswerRefused } from '../errors.ts';
import type { Clock } from './clock.ts';
import { takeTurns } from './take-turns.ts';

/** Collects chunks in one growing buffer. A million separate chunks of one byte would take 100 MB. */
export function growingBytes() {
  let bytes = new Uint8Array(8192);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add: (piece: Uint8Array): void => {
      if (length + piece.length > bytes.length) {
        const larger = new Uint8Array(Math.max(2 * bytes.length, length + piece.length));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(piece, length);
      length += piece.length;
    },
    /** Removes all but the last `most` bytes. Returns how many it removed. */
    keepEnd: (most: number): number => {
      const removed = Math.max(0, length - most);
      bytes.copyWithin(0, removed, length);
      length -= removed;
      return removed;
    },
    /** Returns a copy of the contents and empties the buffer. */
    take: (): Uint8Array<ArrayBuffer> => {
      const taken = bytes.slice(0, length);
      length = 0;
      return taken;
    },
  };
}

/**
 * Limits on a stream of server-sent events. The values of an event's JSON are counted by the code that parses it, because only
 * that code knows which bytes belong to one event.
 */
export interface EventLimits {
  maxBytes: number;
  maxEvents: number;
  /**
   * Maximum size of one event. The client library buffers an event until it is complete and searches the whole buffer
   * after each chunk.
   */
  maxEventBytes: number;
  /** Milliseconds without a byte after which the stream has broken; unlimited when undefined. */
  maxSilenceMs?: number;
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Passes on complete events only, until the stream ends or exceeds a limit. Lines must end with a line feed. The
 * standard also allows a lone carriage return, which no known server uses and which is refused.
 */
export function boundedEvents(
  body: ReadableStream<Uint8Array>,
  limits: EventLimits,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const events = wholeEvents(body, limits, clock);
  const source: UnderlyingSource<Uint8Array> = {
    pull: async (controller) => {
      try {
        const { value, done } = await events.next();
        if (!done) return controller.enqueue(value);
        clock.stop();
        controller.close();
      } catch (error) {
        clock.stop();
        controller.error(error);
      }
    },
    cancel: () => clock.end(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Yields complete events, and at the end whatever follows the last one. @throws AnswerRefused, AnswerStalled */
async function* wholeEvents(body: ReadableStream<Uint8Array>, limits: EventLimits, clock: Clock) {
  const { maxBytes, maxSilenceMs } = limits;
  const splitter = new EventSplitter(limits);
  const turn = takeTurns();
  const heard = () => maxSilenceMs !== undefined && clock.heard(maxSilenceMs);
  let bytes = 0;
  heard();
  for await (const piece of body) {
    clock.check();
    heard();
    bytes += piece.length;
    if (bytes > maxBytes) throw new AnswerRefused(`is larger than ${maxBytes / 1_000_000} MB`);
    // Emits one event per chunk: when a chunk has several events, the client library copies the rest of the chunk for
    // each of them.
    for (const event of splitter.eventsIn(piece)) {
      yield event;
      await turn();
    }
    await turn();
  }
  const rest = splitter.rest();
  if (rest.length > 0) yield rest;
}

/** Splits a stream at the empty lines that end its events. */
class EventSplitter {
  readonly #limits: EventLimits;
  readonly #held = growingBytes();
  #events = 0;
  /** Bytes of the current line so far, without its line ending. */
  #lineBytes = 0;
  /** The last byte was a carriage return. */
  #isAfterReturn = false;

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  /** Yields the events that this piece completes. @throws AnswerRefused */
  *eventsIn(piece: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
    let begin = 0;
    for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, begin)) {
      this.#hold(piece.subarray(begin, at + 1));
      begin = at + 1;
      this.#lineBytes -= piece[at - 1] === carriageReturn ? 2 : 1;
      if (this.#lineBytes === 0) yield this.#endEvent();
      this.#lineBytes = 0;
    }
    this.#hold(piece.subarray(begin));
    const { maxEventBytes } = this.#limits;
    if (this.#held.length > maxEventBytes)
      throw new AnswerRefused(`has an event larger than ${maxEventBytes / 1_000_000} MB`);
  }

  /** Returns the bytes after the last complete event. */
  rest(): Uint8Array<ArrayBuffer> {
    return this.#held.take();
  }

  #hold(bytes: Uint8Array): void {
    this.#held.add(bytes);
    this.#refuseLoneReturn(bytes);
    this.#lineBytes += bytes.length;
  }

  /** A parser of events would find more lines and more events than are counted here. @throws AnswerRefused */
  #refuseLoneReturn(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const isLone = (next: number | undefined) => next !== undefined && next !== lineFeed;
    let isRefused = this.#isAfterReturn && isLone(bytes[0]);
    for (let at = bytes.indexOf(carriageReturn); at >= 0; at = bytes.indexOf(carriageReturn, at + 1))
      isRefused ||= isLone(bytes[at + 1]);
    if (isRefused) throw new AnswerRefused('ends a line with a lone carriage return');
    this.#isAfterReturn = bytes.at(-1) === carriageReturn;
  }

  #endEvent(): Uint8Array<ArrayBuffer> {
    const { maxEvents } = this.#limits;
    this.#events += 1;
    if (this.#events > maxEvents) throw new AnswerRefused(`has more than ${maxEvents} events`);
    return this.#held.take();
  }
}

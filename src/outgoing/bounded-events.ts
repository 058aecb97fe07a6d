import type { UnderlyingSource } from 'node:stream/web';
import { AnswerRefused } from '../errors.ts';
import type { Clock } from './bounded-fetch.ts';
import { growingBytes } from './growing-bytes.ts';
import { jsonCost } from './json-cost.ts';
import { takeTurns } from './take-turns.ts';

/** Limits on a stream of server-sent events. */
export interface EventLimits {
  maxBytes: number;
  maxEvents: number;
  /** Size of one event. Clients buffer an event until it ends and search the whole buffer on every chunk. */
  maxEventBytes: number;
  /** Values in the JSON of one event. */
  maxValues: number;
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Passes on complete events only, until the stream ends or exceeds a limit. Lines must end with
 * a line feed; no known server ends them with a lone carriage return, which the standard allows too.
 */
export function boundedEvents(
  body: ReadableStream<Uint8Array>,
  limits: EventLimits,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const events = wholeEvents(body, limits, clock.check);
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

/**
 * One complete event at a time, then whatever is left at the end. Given several events in one chunk, the client library
 * copies the rest of the chunk for each of them.
 * @throws AnswerRefused
 */
async function* wholeEvents(body: ReadableStream<Uint8Array>, limits: EventLimits, check: () => void) {
  const { maxBytes, maxEvents, maxEventBytes, maxValues } = limits;
  const held = growingBytes();
  const cost = jsonCost(maxValues);
  const turn = takeTurns();
  let [bytes, events, lineBytes] = [0, 0, 0];
  for await (const piece of body) {
    check();
    bytes += piece.length;
    if (bytes > maxBytes) throw new AnswerRefused(`is larger than ${maxBytes / 1_000_000} MB`);
    let begin = 0;
    for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, begin)) {
      const line = piece.subarray(begin, at + 1);
      begin = at + 1;
      held.add(line);
      cost.add(line);
      lineBytes += line.length - (piece[at - 1] === carriageReturn ? 2 : 1);
      // An empty line ends an event.
      if (lineBytes === 0) {
        events += 1;
        if (events > maxEvents) throw new AnswerRefused(`has more than ${maxEvents} events`);
        cost.reset();
        yield held.take();
        await turn();
      }
      lineBytes = 0;
    }
    const rest = piece.subarray(begin);
    held.add(rest);
    cost.add(rest);
    lineBytes += rest.length;
    if (held.length > maxEventBytes)
      throw new AnswerRefused(`has an event larger than ${maxEventBytes / 1_000_000} MB`);
    await turn();
  }
  if (held.length > 0) yield held.take();
}

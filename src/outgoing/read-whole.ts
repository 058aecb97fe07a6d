import { AnswerRefused } from '../errors.ts';
import { growingBytes } from './growing-bytes.ts';
import { JsonCost } from './json-cost.ts';
import { takeTurns } from './take-turns.ts';

interface Limits {
  maxBytes: number;
  /** Truncates a response that is too large instead of rejecting it. */
  cuts?: boolean;
  /** Keeps only this many bytes from the end. */
  keepsEnd?: number;
  maxValues?: number | undefined;
  /** Throws when the time is up. */
  check: () => void;
}

/**
 * Reads a body into one buffer, whatever the size of its chunks.
 * @throws AnswerRefused when a limit is exceeded
 */
export async function readWhole(body: ReadableStream<Uint8Array>, limits: Limits): Promise<Uint8Array<ArrayBuffer>> {
  const { maxBytes, cuts = false, keepsEnd = maxBytes, maxValues, check } = limits;
  const whole = growingBytes();
  let dropped = 0;
  const cost = maxValues === undefined ? undefined : new JsonCost(maxValues);
  const turn = takeTurns();
  for await (const piece of body) {
    check();
    const room = maxBytes - dropped - whole.length;
    if (piece.length > room) {
      if (!cuts) throw new AnswerRefused(`is larger than ${maxBytes / 1_000_000} MB`);
      whole.add(piece.subarray(0, room));
      break;
    }
    cost?.add(piece);
    whole.add(piece);
    // Rarely, because it copies what is kept.
    if (whole.length > 2 * keepsEnd) dropped += whole.keepEnd(keepsEnd);
    await turn();
  }
  whole.keepEnd(keepsEnd);
  return whole.take();
}

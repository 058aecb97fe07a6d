import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';

/** Entries written in one go. 10,000 lines of a log would keep the event loop for a tenth of a second. */
const sliceLength = 500;

/** A reply as JSON, by its shape. A long list is written in slices, with room for other requests in between. */
export async function replyText(shape: z.ZodType, value: unknown): Promise<string> {
  if (!Array.isArray(value) || value.length <= sliceLength) return JSON.stringify(shape.parse(value));
  const slices: string[] = [];
  for (let at = 0; at < value.length; at += sliceLength) {
    slices.push(JSON.stringify(shape.parse(value.slice(at, at + sliceLength))).slice(1, -1));
    await setImmediate();
  }
  return `[${slices.join(',')}]`;
}

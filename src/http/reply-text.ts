import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';

/** Entries serialized at a time. 10,000 lines of a log would block the event loop for a tenth of a second. */
const sliceLength = 500;

/** A reply as JSON, by its shape. Long lists are serialized in slices, so that other requests are served in between. */
export async function replyText(shape: z.ZodType, value: unknown): Promise<string> {
  if (!Array.isArray(value) || value.length <= sliceLength) return JSON.stringify(shape.parse(value));
  const slices: string[] = [];
  for (let at = 0; at < value.length; at += sliceLength) {
    slices.push(JSON.stringify(shape.parse(value.slice(at, at + sliceLength))).slice(1, -1));
    await setImmediate();
  }
  return `[${slices.join(',')}]`;
}

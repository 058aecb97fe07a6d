import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';

/**
 * Entries serialized before yielding to the event loop. Serializing 10,000 log lines in one go would block it for a
 * tenth of a second.
 */
const sliceLength = 500;

/**
 * Serializes a reply as JSON, with only the properties that `shape` declares. Serializes long lists in slices and
 * yields to the event loop in between.
 */
export async function replyText(shape: z.ZodType, value: unknown): Promise<string> {
  if (!Array.isArray(value) || value.length <= sliceLength) return JSON.stringify(shape.parse(value));
  const slices: string[] = [];
  for (let at = 0; at < value.length; at += sliceLength) {
    slices.push(JSON.stringify(shape.parse(value.slice(at, at + sliceLength))).slice(1, -1));
    await setImmediate();
  }
  return `[${slices.join(',')}]`;
}

// The kinds of values that keys of .deckhand.yml have.

import { z } from 'zod';

/** Text that is not empty. */
export const text = (most: number) =>
  z
    .string({ error: ({ input }) => (input === null ? 'must not be empty' : notText(input)) })
    .trim()
    .min(1, 'must not be empty')
    .max(most, `must have at most ${most} characters`);

/** Accepts a list, or a single value as a list of one. */
export const listed = <T extends z.ZodType>(item: T, most: number) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given : [given]),
    z.array(item).max(most, `must have at most ${most} entries`),
  );

/** Says what is wrong with a value that is not text. */
export function notText(value: unknown): string {
  return value === undefined ? 'is required' : `must be text, not ${kindOf(value)}; put it in quotation marks`;
}

/** Names the kind of a value, for messages. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'string' ? 'text' : `the ${typeof value} ${String(value).slice(0, 30)}`;
}

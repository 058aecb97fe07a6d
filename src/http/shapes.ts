import { z } from 'zod';

/** A time in a reply: ISO 8601 in UTC. */
export const Timestamp = z
  .union([z.date(), z.string()])
  .transform((t) => (typeof t === 'string' ? t : t.toISOString()))
  .pipe(z.string())
  .meta({
    override: { type: 'string', format: 'date-time', anyOf: undefined } as object,
    example: '2026-01-15T09:30:00.000Z',
  });

/** Returns whether a text is a day YYYY-MM-DD of the calendar, from the year 1 on, which PostgreSQL can store. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '0001') return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** PostgreSQL cannot store NUL in text. */
const noNul = (s: string) => !s.includes('\0');
export const titleText = (max = 200) =>
  z
    .string()
    .trim()
    .min(1, `must have 1 to ${max} characters`)
    .max(max, `must have 1 to ${max} characters`)
    .refine(noNul, 'must not contain a NUL character');
export const longText = (max = 50_000) =>
  z.string().max(max, `must have at most ${max} characters`).refine(noNul, 'must not contain a NUL character');
export const IdText = z.string().min(1).max(255).refine(noNul, 'must not contain a NUL character');

/** Returns the schema of a whole number in a query, where all values are strings. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number between ${min} and ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be between ${min} and ${max}`).max(max, `must be between ${min} and ${max}`));
export const pageQuery = {
  limit: wholeNumber(1, 100)
    .default(20)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, description: 'results per page' }),
  offset: wholeNumber(0, 999_999_999)
    .default(0)
    .meta({ override: { type: 'integer', minimum: 0, default: 0 }, description: 'results to skip' }),
};
/** For lists that are complete without a limit, unless they are too large for one reply. */
export const wholeListQuery = {
  limit: wholeNumber(1, 100)
    .optional()
    .meta({
      override: { type: 'integer', minimum: 1, maximum: 100 },
      description: 'results per page; if missing, all results are returned, up to 5 MB',
    }),
  offset: pageQuery.offset,
};

export const ErrorReply = z
  .object({
    statusCode: z.int(),
    message: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'ErrorReply' });

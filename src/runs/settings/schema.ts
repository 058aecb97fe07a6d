import { z } from 'zod';
import { problemWithAllowed } from '../../domain/protected/protected-paths.ts';
import { problemWithPattern } from './patterns.ts';

const text = (most: number) =>
  z
    .string({ error: ({ input }) => `must be text, not ${kindOf(input)}; put it in quotation marks` })
    .trim()
    .min(1, 'must not be empty')
    .max(most, `must have at most ${most} characters`);

/** Accepts a list, or a single value as a list of one. */
const listed = <T extends z.ZodType>(item: T, most: number) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given : [given]),
    z.array(item).max(most, `must have at most ${most} entries`),
  );

/** A path relative to the root of the repository. Removes a leading `/` or `./` and a trailing `/`. */
const path = text(500).transform((given) => given.replace(/^\.?\//, '').replace(/\/$/, ''));

const pattern = path.superRefine((given, context) => {
  const problem = problemWithPattern(given);
  if (problem !== undefined) context.addIssue(problem);
});

const allowed = path.superRefine((given, context) => {
  const problem = /[*?[\]{}]/.test(given)
    ? 'must be the exact path of a file or a folder, without *, ?, [] or {}'
    : (problemWithLocation(given) ?? problemWithAllowed(given));
  if (problem !== undefined) context.addIssue(problem);
});

function problemWithLocation(given: string): string | undefined {
  const isInside = given.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
  return isInside ? undefined : 'must name a file or a folder of the repository';
}

const positive = z
  .number({ error: ({ input }) => `must be a number, not ${kindOf(input)}` })
  .positive('must be more than 0');

export const Settings = z.strictObject({
  setup: listed(text(2000), 20).default([]),
  checks: listed(text(2000), 20).default([]),
  protected: listed(pattern, 200).default([]),
  allowed: listed(allowed, 200).default([]),
  agent: text(200).optional(),
  budget: z
    .strictObject(
      { minutes: positive, steps: positive, tokens: positive, costUsd: positive },
      { error: ({ input }) => `must contain limits such as { minutes: 20 }, not ${kindOf(input)}` },
    )
    .partial()
    .default({}),
});

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'string' ? 'text' : `the ${typeof value} ${String(value).slice(0, 30)}`;
}

import { z } from 'zod';
import { Timestamp } from '../../http/shapes.ts';

/** Shorter values cannot be searched for, because they would match by chance. */
const leastChars = 8;
const maxBytes = 32_768;

export const SetEnvironmentSecret = z.strictObject({
  value: z
    .string()
    .min(leastChars, `must have at least ${leastChars} characters`)
    .refine((value) => Buffer.byteLength(value) <= maxBytes, 'must have at most 32 kB')
    .refine((value) => !value.includes('\0'), 'must not contain a NUL character'),
});

export const EnvironmentSecret = z.object({ name: z.string(), createdAt: Timestamp }).meta({ id: 'EnvironmentSecret' });

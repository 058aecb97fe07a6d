import { z } from 'zod';
import { severities } from '../../domain/reviewing/choose-comments.ts';

const Remark = z.object({
  path: z.string().min(1).max(1000),
  line: z.int().min(1).describe('the number of the line, in the new file for RIGHT, in the old file for LEFT'),
  side: z.enum(['LEFT', 'RIGHT']).default('RIGHT').describe('LEFT for a removed line'),
  severity: z.enum(severities),
  text: z.string().trim().min(1).max(4000),
  suggestion: z.string().max(4000).optional().describe('exactly what replaces this one line; may be several lines'),
});

/** More comments than this are refused, although far fewer are posted. */
const maxGiven = 100;

export const ReviewCall = z.strictObject({
  summary: z.string().trim().min(1).max(4000),
  comments: z.array(Remark).max(maxGiven),
});

/** A review as a model writes it. */
export type ReviewArguments = z.output<typeof ReviewCall>;

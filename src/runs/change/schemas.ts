import { z } from 'zod';

export const TaskChange = z
  .object({
    files: z.int().meta({ description: 'changed files' }),
    additions: z.int(),
    deletions: z.int(),
    isTruncated: z.boolean().meta({ description: 'whether the diff was too large to be shown completely' }),
    checks: z
      .array(z.object({ command: z.string(), passed: z.boolean() }))
      .meta({ description: 'the last result of each check; empty when none ran' }),
    proof: z
      .string()
      .nullable()
      .meta({ description: 'what the tests prove, in a sentence; null before the first proof' }),
  })
  .meta({ id: 'TaskChange' });

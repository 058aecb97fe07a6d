import { z } from 'zod';
import { IdText, longText, pageQuery, Timestamp, wholeNumber } from '../../http/shapes.ts';

export const RewindTask = z.strictObject({
  runId: IdText.meta({ description: 'a run of the task' }),
  turn: z
    .int('must be a whole number from 1')
    .min(1, 'must be a whole number from 1')
    .max(999_999_999, 'must be the number of a turn of the run')
    .meta({ description: 'the turn after which the new run goes on, numbered from 1' }),
  text: longText(10_000).optional().meta({ description: 'what the agent reads next' }),
});

export const turnQuery = {
  ...pageQuery,
  limit: wholeNumber(1, 100)
    .default(100)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 100 }, description: 'results per page' }),
};

export const RunTurn = z
  .object({
    turn: z.int().meta({ description: 'numbered from 1' }),
    at: Timestamp,
    text: z.string(),
    calls: z.array(
      z.object({
        name: z.string(),
        arguments: z.string().meta({ description: 'as the model wrote them, usually JSON' }),
        result: z.string().meta({ description: 'cut after 10,000 characters' }),
        ok: z.boolean(),
      }),
    ),
    inputTokens: z.int(),
    cachedInputTokens: z.int(),
    outputTokens: z.int(),
    costUsd: z.number().nullable(),
  })
  .meta({
    id: 'RunTurn',
    description:
      'One answer from the model with the results of its calls. A turn that was copied from an earlier run cost this run nothing',
  });

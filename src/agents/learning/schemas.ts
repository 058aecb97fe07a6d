import { z } from 'zod';
import { measures } from '../../domain/learning/comparison.ts';
import { rollout } from '../schemas.ts';

export const PromptPreview = z
  .object({
    systemPrompt: z.string(),
    diff: z.string().meta({
      description: 'what differs from the current prompt, as a unified diff; empty when nothing does',
      example:
        '--- version 1\n+++ version 2\n@@ -1,1 +1,2 @@\n You are a careful developer.\n+Run the tests before you finish.\n',
    }),
  })
  .meta({ id: 'PromptPreview' });

const Quote = z.object({
  source: z
    .enum(['failure', 'review', 'checks'])
    .meta({ description: 'where it comes from: a failed run, a review by a person, or checks on GitHub' }),
  runId: z.string(),
  taskId: z.string(),
  text: z.string().meta({ example: 'expected 3 tests to pass, but 1 failed' }),
  url: z.string().meta({ description: 'the run in the dashboard' }),
});

export const Suggestions = z.object({
  suggestions: z.array(
    z
      .object({
        area: z.string(),
        suggestion: z.string(),
        priority: z.enum(['low', 'medium', 'high']),
        evidence: z.array(z.string()).meta({ description: 'ids of the runs' }),
        quotes: z.array(Quote).meta({ description: 'what runs, people and checks said, word for word' }),
      })
      .meta({ id: 'Suggestion' }),
  ),
  wording: z
    .literal(true)
    .optional()
    .meta({ description: 'present while a model words the suggestions; read them again in a few seconds' }),
});

const Estimate = z
  .object({ value: z.number(), low: z.number(), high: z.number() })
  .meta({ id: 'Estimate', description: 'a value with its interval' })
  .nullable();

const ComparedVersion = z.object({
  id: z.string(),
  version: z.int(),
  tasks: z.int().meta({ description: 'the finished tasks that count' }),
});

export const Comparison = z
  .object({
    earlier: ComparedVersion,
    later: ComparedVersion,
    rollout,
    measures: z.array(
      z.object({
        measure: z.enum(measures).meta({
          description: 'per task: `success` is a rate, `cost` in US dollars, `time` in minutes, `revisions` a number',
        }),
        earlier: Estimate,
        later: Estimate,
        difference: Estimate,
        verdict: z
          .enum(['better', 'worse', 'chance', 'too_few'])
          .meta({ description: 'how the later version compares; `chance` when chance can explain the difference' }),
      }),
    ),
    sentence: z.string(),
  })
  .meta({ id: 'Comparison' });

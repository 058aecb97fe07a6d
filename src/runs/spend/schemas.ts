import { z } from 'zod';
import { wholeNumber } from '../../http/shapes.ts';

const maxDays = 366;

export const SpendQuery = z.strictObject({
  days: wholeNumber(1, maxDays)
    .default(30)
    .meta({
      override: { type: 'integer', minimum: 1, maximum: maxDays, default: 30 },
      description: 'how many days, the last of which is today (UTC)',
    }),
});

const used = {
  costUsd: z.number().meta({ description: 'without the cost of models whose prices are not configured' }),
  inputTokens: z.int(),
  cachedInputTokens: z.int(),
  outputTokens: z.int(),
};

const agentId = z
  .string()
  .nullable()
  .meta({ description: 'the newest version of the agent; null for an agent that was deleted' });

export const Spend = z
  .object({
    days: z
      .array(
        z.object({
          day: z.string().meta({ override: { type: 'string', format: 'date' } }),
          ...used,
          agents: z.array(z.object({ agentId, costUsd: z.number() })),
        }),
      )
      .meta({ description: 'each day, oldest first. A run counts on the days on which it used its tokens' }),
    agents: z
      .array(z.object({ agentId, name: z.string().nullable(), ...used }))
      .meta({ description: 'the agents that used anything, those that cost most first' }),
    total: z.object(used),
    budget: z.object({
      dayCostUsd: z.number().meta({ description: 'what the runs of the project may cost on a day' }),
      setBy: z.enum(['service', 'project']),
    }),
  })
  .meta({
    id: 'Spend',
    example: {
      days: [
        {
          day: '2026-01-15',
          costUsd: 1.25,
          inputTokens: 400_000,
          cachedInputTokens: 350_000,
          outputTokens: 20_000,
          agents: [{ agentId: 'agent_01kbt3v5s8e4c9x2q7w6z1y0ab', costUsd: 1.25 }],
        },
      ],
      agents: [
        {
          agentId: 'agent_01kbt3v5s8e4c9x2q7w6z1y0ab',
          name: 'Developer',
          costUsd: 1.25,
          inputTokens: 400_000,
          cachedInputTokens: 350_000,
          outputTokens: 20_000,
        },
      ],
      total: { costUsd: 1.25, inputTokens: 400_000, cachedInputTokens: 350_000, outputTokens: 20_000 },
      budget: { dayCostUsd: 50, setBy: 'service' },
    },
  });

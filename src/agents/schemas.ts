import { z } from 'zod';
import { proficiencies } from '../domain/agent.ts';
import { leastOutputTokens, mostOutputTokens, reasoningEfforts } from '../domain/settings.ts';
import { IdText, longText, Timestamp, titleText, wholeNumber } from '../http/route.ts';

const status = z.enum(['available', 'busy', 'offline']);

const effort = z
  .enum(reasoningEfforts, `must be null or one of ${reasoningEfforts.join(', ')}`)
  .nullable()
  .meta({ description: 'how long the model reasons before it answers; null leaves it to the model server' });
const outputTokensText = `must be null or a whole number from ${leastOutputTokens} to ${mostOutputTokens}`;
const outputTokens = z
  .int(outputTokensText)
  .min(leastOutputTokens, outputTokensText)
  .max(mostOutputTokens, outputTokensText)
  .nullable()
  .meta({
    description: 'maximum length of an answer in tokens, including reasoning; null means the limit of the model server',
  });

const rolloutText = 'must be a whole number from 0 to 100';
export const rollout = z.int(rolloutText).min(0, rolloutText).max(100, rolloutText).meta({
  description: 'the percentage of tasks that this version takes; the version before it takes the others',
});

export const Agent = z
  .object({
    id: z.string(),
    projectId: z.string().nullable(),
    name: z.string(),
    description: z.string(),
    team: z.string(),
    model: z.string(),
    modelWarning: z
      .string()
      .nullable()
      .meta({ description: 'set if the model server lists models, but not this one; names the nearest of them' }),
    reasoningEffort: effort,
    maxOutputTokens: outputTokens,
    systemPrompt: z.string(),
    version: z.int(),
    previousVersionId: z.string().nullable(),
    isNewest: z.boolean(),
    rollout,
    status,
    currentTaskId: z.string().nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'Agent' });

export const AgentEntry = z
  .object({
    id: z.string(),
    projectId: z.string().nullable().meta({ description: 'null for an agent that belongs to a person' }),
    name: z.string(),
    team: z.string(),
    status,
  })
  .meta({ id: 'AgentEntry' });

export const ModelNames = z
  .object({ names: z.array(z.string()).meta({ description: 'sorted; empty if the server gives no list' }) })
  .meta({ id: 'ModelNames', description: 'The models that the model server lists' });

const shortText = longText(200).transform((s) => s.trim());

export const CreateAgent = z.strictObject({
  name: titleText(),
  description: longText().default(''),
  team: shortText.default(''),
  model: shortText.default(''),
  reasoningEffort: effort.default(null),
  maxOutputTokens: outputTokens.default(null),
  systemPrompt: longText().default(''),
});

export const UpdateAgent = z.strictObject({
  name: titleText().optional(),
  description: longText().optional(),
  team: shortText.optional(),
  model: shortText.optional(),
  reasoningEffort: effort.optional(),
  maxOutputTokens: outputTokens.optional(),
  systemPrompt: longText().optional(),
  rollout: rollout.optional(),
});

/** The longest system prompt of an agent, in characters. */
export const maxPromptChars = 50_000;

export const EvolveAgent = z
  .strictObject({
    improvements: z
      .array(titleText(10_000))
      .min(1, 'must have 1 to 100 entries')
      .max(100, 'must have 1 to 100 entries')
      .optional(),
    newSystemPrompt: longText(maxPromptChars).min(1, 'must not be empty').optional(),
    rollout: rollout.default(100),
    preview: z.boolean().default(false).meta({ description: 'only show the new prompt, and store nothing' }),
    trial: IdText.optional().meta({
      description: 'a trial of exactly the new prompt; refuses if that was worse than the current version',
    }),
  })
  .refine((given) => given.improvements !== undefined || given.newSystemPrompt !== undefined, {
    message: 'is required unless newSystemPrompt is given',
    path: ['improvements'],
  });

export const AgentHealth = z
  .object({
    agentId: z.string(),
    status: z.enum(['healthy', 'degraded', 'unhealthy']),
    lastHeartbeat: Timestamp,
    consecutiveFailures: z.int(),
    totalTasks: z.int(),
    successRate: z.number(),
  })
  .meta({ id: 'AgentHealth' });

export const AgentPerformance = z
  .object({
    agentId: z.string(),
    metrics: z.object({
      totalTasks: z.int(),
      completedTasks: z.int(),
      failedTasks: z.int(),
      averageCompletionTime: z.string().meta({ example: '1h 24m' }),
      successRate: z.number(),
      linesOfCodeWritten: z.int(),
      prsCreated: z.int(),
    }),
    weeks: z
      .array(z.object({ week: z.string().meta({ example: '2026-01-05' }), succeeded: z.int(), failed: z.int() }))
      .optional()
      .meta({
        description: 'runs that ended in each week, which is named by its Monday (UTC); only with the query `weeks`',
      }),
  })
  .meta({ id: 'AgentPerformance' });

export const FiguresQuery = z.strictObject({
  version: wholeNumber(1, 1_000_000)
    .optional()
    .meta({
      override: { type: 'integer', minimum: 1, maximum: 1_000_000 },
      description: 'count only this version of the agent; without it, all versions count',
    }),
});

export const PerformanceQuery = FiguresQuery.extend({
  weeks: wholeNumber(1, 52)
    .optional()
    .meta({
      override: { type: 'integer', minimum: 1, maximum: 52 },
      description: 'also return the runs of this many weeks',
    }),
});

export const AgentSkill = z
  .object({ id: z.string(), name: z.string(), proficiency: z.enum(proficiencies) })
  .meta({ id: 'AgentSkill' });

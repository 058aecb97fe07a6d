import { z } from 'zod';
import { failureCategories } from '../domain/run.ts';
import { lengthProblem, sprintStatuses } from '../domain/sprint.ts';
import { taskStatuses } from '../domain/task.ts';
import { IdText, isDay, longText, pageQuery, Timestamp, titleText, wholeNumber } from '../http/route.ts';

/** An existing day `YYYY-MM-DD`. */
export const Day = z
  .string()
  .refine(isDay, 'must be a date YYYY-MM-DD')
  .meta({ override: { type: 'string', format: 'date' } });

export const Sprint = z
  .object({
    id: z.string(),
    projectId: z.string(),
    name: z.string(),
    goal: z.string(),
    status: z.enum(sprintStatuses),
    startDate: Timestamp,
    endDate: Timestamp,
    createdAt: Timestamp,
    taskCount: z.int(),
    completedCount: z.int(),
  })
  .meta({ id: 'Sprint' });

export const SprintEntry = z
  .object({ id: z.string(), name: z.string(), status: z.enum(sprintStatuses), goal: z.string() })
  .meta({ id: 'SprintEntry' });

export const CreateSprint = z
  .strictObject({ name: titleText(), goal: longText().default(''), startDate: Day, endDate: Day })
  .superRefine(({ startDate, endDate }, ctx) => {
    const message = lengthProblem(startDate, endDate);
    if (message !== undefined) ctx.addIssue({ code: 'custom', path: ['endDate'], message });
  });

export const UpdateSprint = z.strictObject({
  name: titleText().optional(),
  goal: longText().optional(),
  endDate: Day.optional(),
});

export const SprintFilter = z.strictObject({
  status: z.enum(sprintStatuses, `must be one of ${sprintStatuses.join(', ')}`).optional(),
  ...pageQuery,
});

export const SprintTaskFilter = z.strictObject({
  status: z.enum(taskStatuses, `must be one of ${taskStatuses.join(', ')}`).optional(),
  ...pageQuery,
});

export const AddTask = z.strictObject({ taskId: IdText });

export const AddTasks = z.strictObject({
  taskIds: z
    .array(IdText)
    .min(1, 'must have 1 to 100 ids')
    .max(100, 'must have 1 to 100 ids')
    .refine((ids) => new Set(ids).size === ids.length, 'must name each task once'),
});

export const CompleteSprint = z.strictObject({
  unfinished: IdText.optional().meta({
    description: '`backlog`, or the id of a planning sprint: where the unfinished tasks go',
  }),
});

/** A query parameter that is off by default. */
const flag = (description: string) =>
  z
    .string()
    .regex(/^(true|false)$/, 'must be true or false')
    .default('false')
    .transform((s) => s === 'true')
    .meta({ override: { type: 'boolean', default: false }, description });

export const DeleteSprint = z.strictObject({ force: flag('delete even if active') });

const maxWithout = 100;

export const MetricsQuery = z.strictObject({
  without: z
    .union([z.string(), z.array(z.string())], 'must be task ids')
    .default('')
    .transform((given) => [given].flat().join(','))
    .refine((text) => text.length <= maxWithout * 64, `must have at most ${maxWithout} task ids`)
    .transform((text) => [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== ''))
    .refine((ids) => ids.length <= maxWithout, `must have at most ${maxWithout} task ids`)
    .meta({
      description: 'ids of tasks of the sprint, separated by commas or repeated; the forecast leaves them out',
    }),
});

const Forecast = z
  .object({
    p50: Timestamp.nullable(),
    p80: Timestamp.nullable(),
    p95: Timestamp.nullable(),
    reason: z.string().nullable().meta({ description: 'why there is no forecast' }),
  })
  .meta({ id: 'Forecast' });

export const SprintMetrics = z
  .object({
    totalTasks: z.int(),
    completedTasks: z.int(),
    inProgressTasks: z.int(),
    remainingTasks: z.int(),
    completionPercentage: z.number(),
    estimatedCompletion: Timestamp,
    forecast: Forecast,
  })
  .meta({ id: 'SprintMetrics' });

export const BurndownQuery = z.strictObject({
  ahead: flag('also return the days to come, as far as the forecast reaches; their `actual` is null'),
});

export const BurndownPoint = z
  .object({
    date: z.string().meta({ format: 'date' }),
    ideal: z.number(),
    actual: z.number().nullable().meta({ description: 'null only for days to come' }),
    low: z
      .number()
      .meta({ description: 'the open tasks at the end of the day are `low` to `high` with 80 % probability' }),
    high: z.number(),
  })
  .meta({ id: 'BurndownPoint' });

export const VelocityQuery = z.strictObject({
  count: wholeNumber(1, 100)
    .default(6)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 6 }, description: 'number of sprints' }),
});

export const VelocityEntry = z
  .object({ sprintId: z.string(), name: z.string(), velocity: z.number() })
  .meta({ id: 'VelocityEntry' });

export const Digest = z
  .object({
    sprintId: z.string(),
    createdAt: Timestamp,
    markdown: z.string(),
    completed: z.array(z.string()),
    carriedOver: z.array(z.string()),
    failed: z.array(z.object({ taskId: z.string(), category: z.enum(failureCategories), message: z.string() })),
    costUsd: z.number(),
  })
  .meta({ id: 'Digest' });

import { z } from 'zod';
import { runKinds, runStatuses } from '../../domain/run.ts';
import { sprintStatuses } from '../../domain/sprint.ts';
import { taskStatuses } from '../../domain/task.ts';
import { waitReasons } from '../../domain/waiting.ts';
import { IdText, Timestamp, wholeNumber } from '../../http/shapes.ts';
import { Failure } from '../schemas.ts';

/** The most tasks of one reply. */
export const maxTasks = 2000;
/** The most ids that a request may name. */
const maxIds = 100;

export const BoardQuery = z.strictObject({
  ids: z
    .string()
    .max(maxIds * 64, `must have at most ${maxIds} ids`)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
    .transform((text) => [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== ''))
    .refine((ids) => ids.length > 0 && ids.length <= maxIds, `must have 1 to ${maxIds} ids`)
    .optional()
    .meta({
      override: { type: 'string' },
      description: `ids of tasks and runs, separated by commas, at most ${maxIds}; the reply then has only the tasks that they name. A deleted task is missing`,
    }),
  near: IdText.optional().meta({
    override: { type: 'string' },
    description: `the id of a task, instead of \`ids\`; the reply then has only the tasks that it depends on and those that depend on it, at most ${maxTasks}`,
  }),
  limit: wholeNumber(1, maxTasks)
    .default(200)
    .meta({
      override: { type: 'integer', minimum: 1, maximum: maxTasks, default: 200 },
      description: 'tasks per page',
    }),
  offset: wholeNumber(0, 999_999_999)
    .default(0)
    .meta({ override: { type: 'integer', minimum: 0, default: 0 }, description: 'tasks to skip' }),
});

const CardRun = z
  .object({
    id: z.string(),
    kind: z.enum(runKinds),
    status: z.enum(runStatuses),
    steps: z.int(),
    waitReason: z.enum(waitReasons).nullable(),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
    waitingSince: Timestamp.nullable().meta({
      description: 'since when it has been waiting; null while it is not waiting',
    }),
    waitedSeconds: z.int().meta({ description: 'how long it waited before; its clock does not count this' }),
  })
  .meta({ id: 'CardRun', description: 'The newest run of a task' });

const Card = z
  .object({
    id: z.string(),
    projectId: z.string(),
    title: z.string(),
    status: z.enum(taskStatuses),
    owner: z.string().nullable(),
    repositoryId: z.string().nullable(),
    parentId: z.string().nullable(),
    sprintId: z.string().nullable(),
    dependsOn: z.array(z.string()),
    prUrl: z.string().nullable(),
    issueNumber: z.int().nullable(),
    failure: Failure.nullable(),
    runCount: z.int(),
    run: CardRun.nullable(),
    costUsd: z.number().nullable().meta({ description: 'the cost of all its runs; null when it is not known' }),
    checks: z
      .enum(['passed', 'failed'])
      .nullable()
      .meta({ description: 'the last result of the checks of its change' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    statusSince: Timestamp,
  })
  .meta({ id: 'TaskCard', description: 'What a board shows of a task' });

export const Board = z
  .object({
    total: z.int().meta({ description: 'how many tasks the project has' }),
    tasks: z.array(Card),
    agents: z.array(z.object({ id: z.string(), name: z.string() })).meta({ description: 'who can own its tasks' }),
    sprints: z
      .array(z.object({ id: z.string(), name: z.string(), status: z.enum(sprintStatuses) }))
      .meta({ description: 'the newest 200' }),
  })
  .meta({ id: 'Board' });

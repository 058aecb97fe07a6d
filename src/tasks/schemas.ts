import { z } from 'zod';
import { failureCategories, withOutput } from '../domain/run.ts';
import { priorities, taskStatuses } from '../domain/task.ts';
import { waitReasons } from '../domain/waiting.ts';
import { IdText, longText, pageQuery, Timestamp, titleText } from '../http/route.ts';
import { BranchText } from '../repositories/schemas.ts';

const failure = z.object({ category: z.enum(failureCategories), message: z.string(), retryable: z.boolean() });

/** The API is for members, who see the output of commands. */
export const Failure = failure
  .extend({ output: z.string().optional() })
  .transform(({ output, ...rest }) => ({ ...rest, message: withOutput({ message: rest.message, output }) }))
  .pipe(failure)
  .meta({ id: 'Failure' });

const Attention = z
  .object({
    id: z.string(),
    reason: z.enum(waitReasons),
    text: z.string(),
    options: z.array(z.string()),
    since: Timestamp,
  })
  .meta({ id: 'Attention', description: 'What the run of a task waits for' });

const Merging = z
  .object({ state: z.enum(['waiting', 'queued']), since: Timestamp, reason: z.string() })
  .meta({ id: 'Merging', description: "GitHub merges the task's pull requests when they are ready" });

const amount = z.number('must be a number above 0').positive('must be a number above 0');
const count = z.int('must be a whole number above 0').positive('must be a whole number above 0');
const Budget = z
  .strictObject({ costUsd: amount, steps: count, minutes: amount, tokens: count })
  .partial()
  .meta({ id: 'TaskBudget', description: 'Limits of each run of a task, which counts from zero' });

export const Task = z
  .object({
    id: z.string(),
    title: z.string(),
    description: z.string(),
    status: z.enum(taskStatuses),
    priority: z.enum(priorities),
    owner: z.string().nullable(),
    responsible: z
      .string()
      .nullable()
      .meta({ description: 'the member who looks after it: who started it last, unless another one was chosen' }),
    projectId: z.string(),
    branchName: z.string().nullable(),
    base: z.string().nullable(),
    prUrl: z.string().nullable(),
    dependsOn: z.array(z.string()),
    repositoryId: z.string().nullable(),
    parentId: z.string().nullable(),
    sprintId: z.string().nullable(),
    issueNumber: z.int().nullable(),
    issueUrl: z.string().nullable(),
    issueType: z.string().nullable(),
    issueAssignees: z.array(z.string()).meta({ description: 'logins on GitHub' }),
    // Left out of the reply when the issue and the task say the same.
    issueText: z
      .preprocess((text) => text ?? undefined, z.object({ title: z.string(), description: z.string() }).optional())
      .meta({ description: 'what the issue says, if that differs from the task' }),
    failure: Failure.nullable(),
    editedSinceFailure: z
      .preprocess((is) => is ?? undefined, z.boolean().optional())
      .meta({
        description:
          'set if a person changed something about the next run after the failure, such as the description or the budget',
      }),
    attention: Attention.nullable(),
    merging: Merging.nullable(),
    planFirst: z.boolean().nullable(),
    budget: Budget.nullable(),
    undoOf: z.string().nullable().meta({ description: 'the task whose merged pull requests this one reverts' }),
    runCount: z.int(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Task' });

const priority = z.enum(priorities, `must be one of ${priorities.join(', ')}`).meta({
  description: 'of the queued runs of a project, those of the most urgent tasks begin first',
});

const planFirst = z
  .boolean()
  .nullable()
  .meta({ description: 'whether the agent proposes a plan first; null for the setting of the repository' });

const base = BranchText.nullable().meta({
  description: 'the branch from which it starts and into which it goes; null for that of the repository',
});

const owner = IdText.meta({ description: 'an agent: its id, or its name if no other agent of the project has it' });

export const CreateTask = z.strictObject({
  title: titleText(),
  description: longText().default(''),
  owner: owner.optional(),
  status: z.enum(['backlog', 'ready'], 'must be backlog or ready').default('backlog'),
  dependsOn: z.array(IdText).max(100, 'must have at most 100 ids').default([]),
  repositoryId: IdText.optional(),
  sprintId: IdText.optional(),
  issue: z.boolean().default(false).meta({ description: 'create a GitHub issue for it' }),
  planFirst: planFirst.optional(),
  base: base.optional(),
  priority: priority.optional(),
  budget: Budget.optional(),
});

/** In this request, `dependsOn` may also contain the `ref` of another task in the same request. */
export const CreateTasks = z.strictObject({
  tasks: z
    .array(CreateTask.omit({ budget: true }).extend({ ref: IdText.optional() }))
    .min(1, 'must have 1 to 100 tasks')
    .max(100, 'must have 1 to 100 tasks'),
});

export const UpdateTask = z.strictObject({
  title: titleText().optional(),
  description: longText().optional(),
  owner: owner.nullable().optional(),
  responsible: IdText.nullable()
    .optional()
    .meta({ description: 'a member of the project; null for nobody until it is started again' }),
  status: z.enum(taskStatuses, `must be one of ${taskStatuses.join(', ')}`).optional(),
  priority: priority.optional(),
  dependsOn: z.array(IdText).max(100, 'must have at most 100 ids').optional(),
  repositoryId: IdText.optional(),
  planFirst: planFirst.optional(),
  base: base.optional(),
  budget: Budget.nullable()
    .optional()
    .meta({ description: 'replaces the whole budget; during a run it applies from the next turn' }),
  replaces: z
    .strictObject({ title: longText().optional(), description: longText().optional() })
    .optional()
    .meta({ description: 'the texts that you saw; 409 if somebody else has changed one of them since' }),
});

export const CreateSubtask = z.strictObject({
  title: titleText(),
  description: longText().default(''),
  issue: z
    .boolean()
    .default(false)
    .meta({ description: 'whether to create an issue, as a sub-issue of that of the parent' }),
});

/** Which tasks to list. `search` looks for a text in their titles. */
export const TaskFilter = z.strictObject({
  status: z.enum(taskStatuses, `must be one of ${taskStatuses.join(', ')}`).optional(),
  owner: IdText.optional(),
  responsible: IdText.optional(),
  sprintId: IdText.optional(),
  search: longText(200)
    .optional()
    .meta({ description: 'a part of the title, or words of the description, of which the last may be incomplete' }),
  ...pageQuery,
});

export const Statistics = z
  .object({
    total: z.int(),
    byStatus: z.object({
      backlog: z.int(),
      ready: z.int(),
      in_progress: z.int(),
      in_review: z.int(),
      done: z.int(),
      waiting_on_subtasks: z.int(),
    }),
  })
  .meta({ id: 'TaskStatistics' });

const Hunk = z
  .object({
    oldStart: z.int(),
    oldLines: z.int(),
    newStart: z.int(),
    newLines: z.int(),
    lines: z.array(z.string()),
  })
  .meta({ id: 'Hunk', description: 'Each line begins with a space, + or -' });

export const TaskDiff = z
  .object({
    taskId: z.string(),
    branchName: z.string(),
    baseBranch: z.string(),
    files: z.array(
      z
        .object({
          path: z.string(),
          previousPath: z.string().optional(),
          status: z.enum(['added', 'modified', 'deleted', 'renamed']),
          additions: z.int(),
          deletions: z.int(),
          hunks: z.array(Hunk),
          binary: z.boolean().optional(),
          truncated: z.boolean().optional(),
        })
        .meta({ id: 'FileDiff' }),
    ),
    truncated: z.boolean().optional(),
  })
  .meta({ id: 'TaskDiff' });

export const Handoffs = z.object({
  handoffs: z.array(
    z
      .object({
        id: z.string(),
        taskId: z.string(),
        summary: z.string(),
        nextSteps: z.array(z.string()),
        createdAt: Timestamp,
      })
      .meta({ id: 'Handoff' }),
  ),
});

export const PullRequestEntry = z
  .object({
    repositoryId: z.string(),
    repositoryName: z.string(),
    prUrl: z.string(),
    prNumber: z.int(),
    status: z.enum(['draft', 'open', 'merged', 'closed']),
  })
  .meta({ id: 'PullRequest' });

/** The GitHub issue that a task belongs to. */
export interface IssueLink {
  repositoryId: string;
  number: number;
  url: string;
  type?: string | null;
  assignees?: string[];
}

import { z } from 'zod';
import { taskStatuses } from '../../domain/task.ts';

const Check = z
  .object({ name: z.string(), outcome: z.enum(['passed', 'failed', 'running', 'skipped']), url: z.string().nullable() })
  .meta({ id: 'PullRequestCheck' });

const Review = z
  .object({ login: z.string(), state: z.enum(['approved', 'changes_requested']) })
  .meta({ id: 'PullRequestReview', description: 'The latest decision of a reviewer' });

const Pull = z
  .object({
    repositoryName: z.string(),
    prUrl: z.string(),
    prNumber: z.int(),
    status: z.enum(['draft', 'open']),
    method: z.enum(['squash', 'merge', 'rebase']).nullable().meta({ description: 'how it will be merged' }),
    baseBranch: z.string().nullable(),
    mergeable: z.boolean().nullable().meta({ description: 'null while GitHub computes whether there are conflicts' }),
    checks: z.array(Check).nullable().meta({ description: 'null without permission to read them' }),
    reviews: z.array(Review).nullable(),
    error: z.string().nullable().meta({ description: 'why it could not be read from GitHub' }),
  })
  .meta({ id: 'PullRequestReadiness' });

export const MergeReadiness = z
  .object({
    pullRequests: z.array(Pull).meta({ description: 'the open pull requests, in the order in which they are merged' }),
    runChecks: z
      .array(z.object({ name: z.string(), passed: z.boolean() }))
      .meta({ description: 'the last results of the checks in the latest run that had any' }),
    dependents: z
      .array(
        z.object({
          id: z.string(),
          title: z.string(),
          status: z.enum(taskStatuses),
          starts: z.boolean().meta({ description: 'whether the active sprint starts it when this task is done' }),
        }),
      )
      .meta({ description: 'the open tasks that depend on this one, at most 30' }),
    problems: z.array(z.object({ text: z.string(), blocks: z.boolean() })).meta({
      description: 'problems such as failed checks or missing reviews; a merge is refused while a problem `blocks` it',
    }),
  })
  .meta({ id: 'MergeReadiness' });

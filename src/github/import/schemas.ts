import { z } from 'zod';
import { IdText, Timestamp } from '../../http/shapes.ts';

export const InstalledRepository = z
  .object({
    fullName: z.string(),
    name: z.string(),
    url: z.string(),
    defaultBranch: z.string(),
    isPrivate: z.boolean(),
    isConnected: z.boolean().meta({ description: 'whether the project has connected it already' }),
  })
  .meta({ id: 'InstalledRepository' });

export const OpenIssue = z
  .object({
    number: z.int(),
    title: z.string(),
    url: z.string(),
    author: z.string().nullable().meta({ description: 'a login; null for a deleted account' }),
    labels: z.array(z.string()),
    createdAt: Timestamp,
    taskId: z.string().nullable().meta({ description: 'the task of the issue, if it has one' }),
  })
  .meta({ id: 'OpenIssue' });

/** Each issue is read once from GitHub before the tasks are created. */
const maxIssues = 50;

export const ImportIssues = z.strictObject({
  numbers: z
    .array(z.int().min(1).max(2_147_483_647))
    .min(1)
    .max(maxIssues)
    .meta({ example: [7] }),
  status: z.enum(['backlog', 'ready']).default('backlog'),
  owner: IdText.optional(),
});

export const ImportedIssues = z
  .object({
    imported: z.array(z.object({ number: z.int(), taskId: z.string() })),
    skipped: z.array(
      z.object({
        number: z.int(),
        reason: z.string(),
        taskId: z.string().nullable().meta({ description: 'the existing task of the issue' }),
      }),
    ),
  })
  .meta({ id: 'ImportedIssues' });

import { z } from 'zod';
import { Timestamp } from '../../http/shapes.ts';

/** Why a task needs a person. */
const reasons = ['plan', 'question', 'push', 'paused', 'review', 'failed'] as const;
export type InboxReason = (typeof reasons)[number];

export const InboxEntry = z
  .object({
    taskId: z.string(),
    projectId: z.string(),
    reason: z.enum(reasons),
    title: z.string(),
    text: z
      .string()
      .meta({ description: 'what the run waits for, why it failed, or what was done; at most 2,000 characters' }),
    since: Timestamp,
  })
  .meta({ id: 'InboxEntry' });

import { z } from 'zod';
import { vias } from '../../domain/audit/action.ts';
import { Timestamp } from '../../http/shapes.ts';

const Value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const TimelineEntry = z
  .object({
    id: z.string(),
    at: Timestamp,
    type: z.string().meta({
      description:
        'an action of the audit log without `task.`, such as `start` or `answer`; or `created`, `wait_plan`, `wait_question`, `wait_push`, `pushed`, `pull_opened`, `pull_merged`, `run_succeeded`, `run_failed` or `run_cancelled`',
      example: 'start',
    }),
    actor: z
      .object({ id: z.string(), login: z.string() })
      .nullable()
      .meta({ description: 'the person who did it; null for agents and the system' }),
    via: z.enum(vias).nullable().meta({ description: 'how a person or the system did it; null for agents' }),
    agent: z.string().nullable().meta({ description: 'the name of the agent that did it' }),
    runId: z.string().nullable(),
    text: z.string().meta({
      description:
        'what was said, asked or requested, the failure of a run, a commit, or a pull request; at most 500 characters',
    }),
    url: z.string().nullable(),
    changes: z.record(z.string(), z.array(Value).length(2)).meta({
      description: 'the changed fields, each with its values before and after; texts are cut at 200 characters',
      example: { status: ['ready', 'in_progress'] },
    }),
    handoff: z
      .object({ summary: z.string(), nextSteps: z.array(z.string()) })
      .nullable()
      .meta({ description: 'what a run left for later runs' }),
  })
  .meta({ id: 'TimelineEntry' });

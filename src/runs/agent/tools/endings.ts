import { z } from 'zod';
import { storable } from '../../../domain/text/storable.ts';
import { words } from '../../../llm/calls/declaration.ts';
import { tool } from './tool.ts';

export const FinishCall = z.strictObject({
  summary: z.string().min(1),
  nextSteps: z.array(z.string()),
  prTitle: z.string().optional(),
  prBody: z.string().optional(),
});
const GiveUp = z.strictObject({ reason: z.string().min(1) });

const CreateSubtasks = z.strictObject({
  subtasks: z
    .array(z.strictObject({ title: z.string().trim().min(1).max(200), description: z.string().max(50_000) }))
    .min(1)
    .max(20),
});

export type FinishArguments = z.output<typeof FinishCall>;
export type NewSubtask = z.output<typeof CreateSubtasks>['subtasks'][number];

/** The tools that end a conversation. Their arguments are stored, and the database cannot store every character. */
export const endings = {
  create_subtasks: tool({
    description:
      'Split the task: each subtask is done and merged on its own, then you continue. Ends the work for now; your changes so far are kept. Only for tasks that are too large for one pull request.',
    arguments: CreateSubtasks,
    names: ['split_task', 'add_subtasks'],
    argumentNames: { subtasks: ['tasks'] },
    changes: false,
    offer: 'with split',
    run: async (_context, args) => ({ kind: 'split', subtasks: storable(args).subtasks }),
  }),
  finish: tool({
    description:
      'End the work when the task is done and checked: say what you did and why, and what remains. Your change then becomes a pull request.',
    arguments: FinishCall,
    names: words('done submit complete attempt_completion complete_task task_complete finish_task'),
    argumentNames: {
      summary: words('message result output answer text'),
      nextSteps: ['remaining', 'todo', 'follow_ups'],
      prTitle: ['title', 'pull_request_title'],
      prBody: ['body', 'pull_request_body'],
    },
    defaults: { nextSteps: [] },
    changes: false,
    run: async (_context, args) => ({ kind: 'finish', finish: storable(args) }),
  }),
  give_up: tool({
    description: 'End the work without a result, because the task cannot be done. Say why.',
    arguments: GiveUp,
    names: ['abort_task', 'cannot_complete'],
    argumentNames: { reason: words('message explanation why summary') },
    changes: false,
    run: async (_context, args) => ({ kind: 'give_up', reason: storable(args).reason }),
  }),
};

import { z } from 'zod';
import { orderProblem } from '../domain/planned-order.ts';

const line = z.string().trim().min(1).max(500);
const text = z.string().max(50_000);
/** Explanations are for people to read at a glance. */
const shortText = z.string().max(5000);
/** Characters of all tasks together. A person has to be able to send an edited list back. */
const tasksChars = 300_000;

/** The functions that the model can call in planning. Each request forces it to call one particular function. */
export const functions = {
  ask_question: {
    description: 'Ask the next question with two to six options, or set done when enough is known.',
    arguments: z
      .object({ question: z.string().max(1000), options: z.array(line).max(12), done: z.boolean() })
      .refine((q) => q.done || q.question.trim() !== '', 'a question is required unless done is true'),
  },
  write_prd: {
    description: 'Write the requirements document in Markdown.',
    arguments: z.object({
      title: line,
      markdown: text.min(1).refine((markdown) => markdown.trim() !== '', 'must not be empty'),
    }),
  },
  write_plan: {
    description: 'Write the phases of the plan in their order, each with its goal and the reason for its place.',
    arguments: z.object({
      phases: z
        .array(z.object({ name: line, goal: shortText, reason: shortText }))
        .min(1)
        .max(20),
    }),
  },
  write_tasks: {
    description: 'Write the tasks. dependsOn has the refs of other tasks in this list.',
    arguments: z
      .object({
        tasks: z
          .array(
            z.object({
              ref: line.max(255),
              title: z.string().trim().min(1).max(200),
              description: text,
              owner: z.string().max(200).nullish().describe('name of the agent that fits best'),
              ownerReason: z.string().max(1000).nullish().describe('why this agent, in one sentence'),
              repository: z.string().max(200).nullish().describe('name of the repository to change'),
              dependsOn: z.array(z.string()).max(100),
            }),
          )
          .min(1)
          .max(100),
      })
      .superRefine(({ tasks }, ctx) => {
        const chars = JSON.stringify(tasks).length;
        const problem =
          chars > tasksChars
            ? `must have at most ${tasksChars} characters together, and these have ${chars}; shorten their descriptions`
            : orderProblem(tasks);
        if (problem !== undefined) ctx.addIssue(`tasks ${problem}`);
      }),
  },
} as const;

export type FunctionName = keyof typeof functions;

/** What each function produces, as used in messages to people. */
export const nouns: Record<FunctionName, string> = {
  ask_question: 'question',
  write_prd: 'requirements document',
  write_plan: 'plan',
  write_tasks: 'list of tasks',
};

import { z } from 'zod';
import { explained } from '../agents/chat/converse.ts';
import { modelFor } from '../agents/model.ts';
import { findBuiltInAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import { storable } from '../domain/text/storable.ts';
import { AppError } from '../errors.ts';
import { specsOf } from '../llm/calls/declaration.ts';
import { readArguments } from '../llm/calls/fit-arguments.ts';
import { type Message, type Model, messageOf } from '../llm/model.ts';

const line = z.string().trim().min(1).max(500);
const text = z.string().max(50_000);

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
    arguments: z.object({ title: line, markdown: text.min(1) }),
  },
  write_plan: {
    description: 'Write the phases of the plan in their order, each with its goal and the reason for its place.',
    arguments: z.object({
      phases: z
        .array(z.object({ name: line, goal: text, reason: text }))
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
              ref: line,
              title: z.string().trim().min(1).max(200),
              description: text,
              owner: z.string().max(200).nullish(),
              dependsOn: z.array(z.string()).max(100),
            }),
          )
          .min(1)
          .max(100),
      })
      .superRefine(({ tasks }, ctx) => {
        const problem = orderProblem(tasks);
        if (problem !== undefined) ctx.addIssue(problem);
      }),
  },
} as const;

type FunctionName = keyof typeof functions;

/** What each function produces, as used in messages to people. */
const nouns: Record<FunctionName, string> = {
  ask_question: 'question',
  write_prd: 'requirements document',
  write_plan: 'plan',
  write_tasks: 'list of tasks',
};

/** Returns what is wrong with the dependencies of tasks, as a message for the model. */
function orderProblem(tasks: { ref: string; dependsOn: string[] }[]): string | undefined {
  const byRef = new Map(tasks.map((task) => [task.ref, task]));
  if (byRef.size < tasks.length) return 'each task needs a ref of its own';
  const unknown = tasks.flatMap((t) => t.dependsOn).find((ref) => !byRef.has(ref));
  if (unknown !== undefined) return `dependsOn contains ${unknown}, but no task in this list has that ref`;
  // Repeatedly removes the tasks that depend on no remaining task. Tasks that are never removed form a cycle.
  let left = tasks;
  for (;;) {
    const open = new Set(left.map((t) => t.ref));
    const next = left.filter((t) => t.dependsOn.some((ref) => open.has(ref)));
    if (next.length === 0) return undefined;
    if (next.length === left.length)
      return `these tasks depend on each other in a cycle: ${next.map((t) => t.ref).join(', ')}`;
    left = next;
  }
}

/** How many times the model is asked. An invalid reply is sent back with the reason. */
const maxTries = 3;
/** Time limit for all replies together, because a person is waiting. */
const answerMs = 180_000;

/**
 * Returns the model for planning in a project, which is that of the project's Software Architect.
 * @throws AppError 503
 */
export async function planningModel(app: App, projectId: string): Promise<Model> {
  const architect = await findBuiltInAgent(app.db.manager, projectId, 'architect');
  return modelFor(app, architect ?? { model: '' }, projectId);
}

/**
 * Makes the model call one function and returns the validated arguments.
 * @throws AppError 502 when the model fails, or gives no valid reply in three attempts
 */
export async function askModel<N extends FunctionName>(
  app: App,
  model: Model,
  name: N,
  opening: { system: string; user: string },
): Promise<z.output<(typeof functions)[N]['arguments']>> {
  const declared = functions[name];
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(answerMs)]);
  const messages: Message[] = [
    { role: 'system', content: opening.system },
    { role: 'user', content: opening.user },
  ];
  let problem = '';
  for (let tries = 0; tries < maxTries; tries++) {
    const reply = await model
      .reply(messages, specsOf({ [name]: declared }), signal, { force: name })
      .catch((error) => Promise.reject(explained(error)));
    const call = reply.toolCalls.find((c) => c.name === name);
    const given =
      call === undefined
        ? { ok: false as const, problem: `call the function ${name}` }
        : readArguments<z.ZodType>(declared.arguments, call.arguments, reply);
    if (given.ok) return storable(given.value as object) as z.output<(typeof functions)[N]['arguments']>;
    problem = given.problem;
    messages.push(messageOf(reply));
    for (const { id } of reply.toolCalls) messages.push({ role: 'tool', toolCallId: id, content: `Error: ${problem}` });
    if (reply.toolCalls.length === 0) messages.push({ role: 'user', content: `Error: ${problem}` });
  }
  app.log.info({ function: name, problem: problem.slice(0, 500) }, 'the model gave no valid answer');
  throw new AppError(
    502,
    `The model did not return a valid ${nouns[name]} after ${maxTries} attempts. Try again or choose another model.`,
  );
}

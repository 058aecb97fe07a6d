import { z } from 'zod';
import { explained } from '../agents/chat.ts';
import { modelFor } from '../agents/model.ts';
import { findShippedAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import { storable } from '../domain/text/storable.ts';
import type { AppError } from '../errors.ts';
import { type Message, type Model, ModelFailed } from '../llm/model.ts';
import { parseArguments, specsOf } from '../repositories/read-tools.ts';

const line = z.string().trim().min(1).max(500);
const text = z.string().max(50_000);

/** The functions of decisions, section 10; the model is made to call one of them. */
export const functions = {
  ask_question: {
    description: 'Ask the next question, with two to six options; or say that enough is known (done).',
    arguments: z
      .object({ question: z.string().max(1000), options: z.array(line).max(12), done: z.boolean() })
      .refine((q) => q.done || q.question.trim() !== '', 'a question is needed where done is false'),
  },
  write_prd: {
    description: 'Write the requirements document in Markdown.',
    arguments: z.object({ title: line, markdown: text.min(1) }),
  },
  write_plan: {
    description: 'Write the phases of the plan in their order, each with its goal and why it comes then.',
    arguments: z.object({
      phases: z
        .array(z.object({ name: line, goal: text, reason: text }))
        .min(1)
        .max(20),
    }),
  },
  write_tasks: {
    description: 'Write the tasks; dependsOn names refs of other tasks of this list.',
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

function orderProblem(tasks: { ref: string; dependsOn: string[] }[]): string | undefined {
  const byRef = new Map(tasks.map((task) => [task.ref, task]));
  if (byRef.size < tasks.length) return 'every ref must be used for one task only';
  const unknown = tasks.flatMap((t) => t.dependsOn).find((ref) => !byRef.has(ref));
  if (unknown !== undefined) return `dependsOn names ${unknown}, which is no ref of this list`;
  // What waits for nothing that is left can be taken off; what remains in the end waits in a circle.
  let left = tasks;
  for (;;) {
    const open = new Set(left.map((t) => t.ref));
    const next = left.filter((t) => t.dependsOn.some((ref) => open.has(ref)));
    if (next.length === 0) return undefined;
    if (next.length === left.length) return `these tasks wait for each other: ${next.map((t) => t.ref).join(', ')}`;
    left = next;
  }
}

/** An answer that does not fit is asked for again so often (decisions, section 8). */
const mostTries = 3;
const answerMs = 180_000;

/** The model that plans for a project: the Software Architect's. @throws AppError 503 */
export async function planningModel(app: App, projectId: string): Promise<Model> {
  const architect = await findShippedAgent(app.db.manager, projectId, 'Software Architect');
  return modelFor(app, architect ?? { model: '' }, projectId);
}

/**
 * Makes the model call one function and answers its arguments, checked.
 * @throws AppError 502 when it fails, or answers nonsense three times
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
  for (let tries = 0; tries < mostTries; tries++) {
    const reply = await model
      .reply(messages, specsOf({ [name]: declared }), signal, { force: name })
      .catch((error) => Promise.reject(explained(error)));
    const call = reply.toolCalls.find((c) => c.name === name);
    const given =
      call === undefined
        ? { ok: false as const, problem: `call the function ${name}` }
        : parseArguments<z.ZodType>(declared.arguments, call.arguments);
    if (given.ok) return storable(given.value as object) as z.output<(typeof functions)[N]['arguments']>;
    problem = given.problem;
    messages.push({ role: 'assistant', content: reply.text, toolCalls: reply.toolCalls });
    for (const { id } of reply.toolCalls) messages.push({ role: 'tool', toolCallId: id, content: `Error: ${problem}` });
    if (reply.toolCalls.length === 0) messages.push({ role: 'user', content: `Error: ${problem}` });
  }
  const failed = new ModelFailed('model', `it gave no fitting ${name.replace('_', ' ')} in ${mostTries} tries`);
  app.log.info({ problem: problem.slice(0, 500) }, 'the model answered what does not fit');
  throw explained(failed) as AppError;
}

import { z } from 'zod';
import { explained } from '../agents/chat/converse.ts';
import { modelFor } from '../agents/model.ts';
import { findBuiltInAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import { oneLine, storable } from '../domain/text/sanitize.ts';
import { orderProblem } from '../domain/wizard.ts';
import { AppError } from '../errors.ts';
import { plainly, problemsIn } from '../http/error-reply.ts';
import { specsOf } from '../llm/calls/declaration.ts';
import { readArguments, readObject } from '../llm/calls/fit-arguments.ts';
import { type Message, type Model, type ModelAnswer, messageOf, type ToolCall } from '../llm/model.ts';
import { callReadTool, parseJson, readTools } from '../repositories/read-tools.ts';
import type { ToolAnswer } from '../sandbox/sandbox.ts';
import type { Draft } from './store.ts';

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
const nouns: Record<FunctionName, string> = {
  ask_question: 'question',
  write_prd: 'requirements document',
  write_plan: 'plan',
  write_tasks: 'list of tasks',
};

/** How many times the model may call the function. An invalid call is sent back with the reason. */
const maxTries = 3;
/** Characters that people see of the reason why the last call was refused. */
const maxReason = 200;
/** Maximum number of replies that may read, of calls in each reply, and of characters read in total. */
const [maxReads, maxCalls, maxReadChars] = [10, 10, 200_000];
/** Time limit for all replies and reads of one step, because a person is waiting. */
export const stepMs = 300_000;

/** Callbacks that show people a step while it runs. */
export interface Live {
  /** The next piece of the function's arguments, which are JSON. */
  onPiece?(piece: string): void;
  /** Called when the pieces so far are discarded. The next piece starts from the beginning. */
  onRestart?(): void;
  /** What the model reads, for people. */
  onRead?(what: string): void;
}

/** One step of planning: the opening messages, and what the model can read before it calls the function. */
export interface PlanStep extends Live {
  opening: { system: string; user: string };
  /** Without it the model has nothing to read. */
  read?: ((tool: string, args: object) => Promise<ToolAnswer>) | undefined;
  /** Returns what is wrong with arguments that fit the schema. */
  check?: ((given: object) => string | undefined) | undefined;
  signal: AbortSignal;
}

/** What the model answered: the arguments of the function, and what it said about what it read. */
interface Answered<N extends FunctionName> {
  given: z.output<(typeof functions)[N]['arguments']>;
  found: string;
}

/**
 * Returns the model for planning in a project, which is that of the project's Software Architect, for the person who asks.
 * @throws AppError 503
 */
export async function planningModel(
  app: App,
  { projectId, repositoryIds }: Pick<Draft, 'projectId' | 'repositoryIds'>,
  userId: string | null,
): Promise<Model> {
  const architect = await findBuiltInAgent(app.db.manager, projectId, 'architect');
  const [repositoryId] = repositoryIds.length === 1 ? repositoryIds : [];
  return modelFor(app, architect ?? { model: '' }, projectId, { userId, repositoryId });
}

/**
 * Lets the model read, and then makes it call one function. The request that ends reading forces the function.
 * @throws AppError 502 when the model fails, or gives no valid call in three attempts
 */
export async function askModel<N extends FunctionName>(
  app: App,
  model: Model,
  name: N,
  step: PlanStep,
): Promise<Answered<N>> {
  try {
    return await converse(app, model, name, step);
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      throw new AppError(502, `The model did not finish in ${stepMs / 1000} s. Try again or choose a faster model.`);
    throw explained(error);
  }
}

async function converse<N extends FunctionName>(app: App, model: Model, name: N, step: PlanStep): Promise<Answered<N>> {
  const talk = new Talk(name, step);
  while (talk.tries < maxTries) {
    const reply = await talk.ask(model);
    const given = talk.callIn(reply);
    if (given?.ok) {
      const value = storable(given.value as object) as Answered<N>['given'];
      return { given: value, found: talk.found };
    }
    if (given === undefined) await talk.goOnReading(reply);
    else talk.reject(reply, given);
  }
  app.log.info({ function: name, problem: talk.problem.slice(0, 500) }, 'the model gave no valid answer');
  throw new AppError(
    502,
    `The model did not return a valid ${nouns[name]} after ${maxTries} attempts. The last one was refused: ${oneLine(talk.reason, maxReason)}. Try again or choose another model.`,
  );
}

/** The conversation of one step. */
class Talk {
  readonly #name: FunctionName;
  readonly #step: PlanStep;
  readonly #messages: Message[];
  #isReading: boolean;
  #reads = 0;
  #readChars = 0;
  /** What the model said when it had read enough. */
  found = '';
  tries = 0;
  /** What was wrong with the last call, for the model and for people. */
  problem = '';
  reason = '';

  constructor(name: FunctionName, step: PlanStep) {
    this.#name = name;
    this.#step = step;
    this.#isReading = step.read !== undefined;
    this.#messages = [
      { role: 'system', content: step.opening.system },
      { role: 'user', content: step.opening.user },
    ];
  }

  /** Requests the next reply. All requests of a step offer the same tools, so that servers can reuse their cache. */
  ask(model: Model): Promise<ModelAnswer> {
    const { onPiece, onRestart, read, signal } = this.#step;
    const own = { [this.#name]: functions[this.#name] };
    const tools = specsOf(read === undefined ? own : { ...readTools, ...own });
    const onCall = (called: string, piece: string) => (called === this.#name ? onPiece?.(piece) : undefined);
    return model.reply(this.#messages, tools, signal, {
      ...(this.#isReading ? {} : { force: this.#name }),
      ...(onPiece === undefined ? {} : { onCall, onRestart: () => onRestart?.() }),
    });
  }

  /** Reads the call of the function. Returns undefined while the model is still reading. */
  callIn(reply: ModelAnswer) {
    const declared = functions[this.#name];
    const call = reply.toolCalls.find((c) => c.name === this.#name);
    if (call !== undefined) {
      const given = readArguments<z.ZodType>(declared.arguments, call.arguments, reply);
      if (!given.ok) return { ...given, reason: reasonFor(declared.arguments, call, reply) };
      const problem = this.#step.check?.(given.value as object);
      return problem === undefined ? given : { ok: false as const, problem, reason: problem };
    }
    if (this.#isReading) return undefined;
    const problem = `call the function ${this.#name}`;
    return { ok: false as const, problem, reason: reply.isCut ? cutOff : `it contains no ${nouns[this.#name]}` };
  }

  /** Answers what the model wants to read. When it reads nothing more, the next request forces the function. */
  async goOnReading(reply: ModelAnswer): Promise<void> {
    if (reply.toolCalls.length === 0) {
      this.#isReading = false;
      if (reply.text.trim() === '') return;
      if (this.#reads > 0) this.found = reply.text.trim();
      this.#messages.push(messageOf(reply), { role: 'user', content: `Now call the function ${this.#name}.` });
      return;
    }
    this.#messages.push(messageOf(reply));
    for (const [i, call] of reply.toolCalls.entries()) {
      const content = i < maxCalls ? await this.#read(call) : 'not run: too many calls at once';
      this.#messages.push({ role: 'tool', toolCallId: call.id, content });
    }
    this.#reads += 1;
    if (this.#reads >= maxReads || this.#readChars > maxReadChars) this.#isReading = false;
  }

  async #read(call: ToolCall): Promise<string> {
    const { read, signal, onRead } = this.#step;
    signal.throwIfAborted();
    if (read === undefined || this.#readChars > maxReadChars) return 'not run: too much was read already';
    const { path, pattern } = parseJson(call.arguments) ?? {};
    const about = [pattern, path].filter((each) => typeof each === 'string').join(' in ');
    onRead?.(oneLine(`${call.name} ${about}`, 200));
    const content = await callReadTool(call, read);
    this.#readChars += content.length;
    return content;
  }

  /** Sends an invalid call back with the reason. */
  reject(reply: ModelAnswer, { problem, reason }: { problem: string; reason: string }): void {
    this.tries += 1;
    this.#isReading = false;
    this.problem = problem;
    this.reason = reason;
    this.#messages.push(messageOf(reply));
    for (const { id } of reply.toolCalls)
      this.#messages.push({ role: 'tool', toolCallId: id, content: `Error: ${problem}` });
    if (reply.toolCalls.length === 0) this.#messages.push({ role: 'user', content: `Error: ${problem}` });
    this.#step.onRestart?.();
  }
}

const cutOff = 'the limit on the length of answers cut it off';

/** Says for people why arguments do not fit. The model gets more: the names of all arguments, and its own words. */
function reasonFor(schema: z.ZodType, call: ToolCall, { isCut }: ModelAnswer): string {
  const read = readObject(call.arguments, { isCut });
  if (!read.ok) return isCut ? cutOff : 'it is not valid JSON';
  const { error } = schema.safeParse(read.value, { error: plainly, reportInput: true });
  // What follows a colon quotes the model. People have not seen those names, and they might contain a secret.
  return problemsIn(error?.issues ?? [], 'body')
    .map(({ message }) => message.split(': ')[0])
    .join('; ');
}

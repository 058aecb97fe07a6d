import { type Budgets, exhausted, type Spent } from '../../domain/budget.ts';
import { RunFailed } from '../../domain/run.ts';
import { storableText } from '../../domain/text/storable.ts';
import { type Message, type Model, ModelFailed, type Reply, type ToolCall } from '../../llm/model.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import type { TreeOf } from '../outgoing/objection.ts';
import type { CheckResult } from '../publish/verify.ts';
import { contextChars, fitContext } from './fit-context.ts';
import {
  callTool,
  describeCall,
  type FinishArguments,
  type NewSubtask,
  type Offered,
  type ToolResult,
  toolSpecs,
} from './tools.ts';

/** How the conversation ended; `isCalled: false` for a bare text without a call of `finish`. */
export interface Ending {
  finish: FinishArguments;
  isCalled: boolean;
  /** The agent split the task instead. */
  subtasks?: NewSubtask[];
  /** What the repository's own checks said in the end. */
  checks?: CheckResult[];
  /** The files as they were when nothing spoke against them; what checks did to them since is not pushed. */
  judged?: TreeOf;
}

export interface LoopContext {
  model: Model;
  host: ToolHost;
  offered: Offered;
  signal: AbortSignal;
  budgets: Budgets;
  spent(): Promise<Spent>;
  /** Keeps a turn before the next one begins. `changed`: the workspace may differ from before. */
  keep(turn: Message[], reply: Reply, changed: boolean): Promise<void>;
  /** What speaks against ending here, in words for the model; undefined when nothing does, or nothing more is said. */
  objection(ending: Ending, messages: Message[]): Promise<string | undefined>;
  note(type: string, text: string, data?: object): Promise<void>;
  /** A value with every text in it as it may be shown. */
  shown<T>(value: T): T;
}

/** Of the calls of one turn so many are done. */
const maxCalls = 100;
/** So often the same call with the same arguments, one after the other, and nothing new comes of it. */
const maxRepeats = 3;
/** So many errors in a row and the model is not getting anywhere. */
const maxErrors = 3;

/**
 * The conversation between model and tools, continued from the messages so far until the model finishes, gives up, or a
 * limit is reached.
 * @throws RunFailed budget, model, gave_up, rate_limit, auth; or the reason of the signal
 */
export async function converse(context: LoopContext, messages: Message[]): Promise<Ending> {
  let errors = 0;
  for (;;) {
    context.signal.throwIfAborted();
    const used = exhausted(context.budgets, await context.spent());
    if (used !== undefined) throw new RunFailed('budget', used);
    const reply = await replyOf(context, messages);
    const turn: Message[] = [{ role: 'assistant', content: reply.text, toolCalls: reply.toolCalls }];
    let changed = false;
    let ending: Ending | undefined;
    if (reply.toolCalls.length === 0 && !reply.isCut)
      ending = endingOf({ summary: storableText(reply.text.trim()) || 'Done.', nextSteps: [] }, false, context);
    for (const [i, call] of reply.toolCalls.entries()) {
      context.signal.throwIfAborted();
      const skipped =
        ending !== undefined ? 'the work was ended before' : i >= maxCalls ? `over ${maxCalls} calls` : '';
      const result = skipped === '' ? await callTool(context.host, call, context.offered) : notRun(skipped);
      if (result.kind === 'give_up') {
        await context.keep(turn, reply, changed);
        throw new RunFailed('gave_up', cut(context.shown(result.reason)));
      }
      if (result.kind === 'finish') ending = endingOf(result.finish, true, context);
      if (result.kind === 'split') ending = splitInto(context.shown(result.subtasks));
      if (result.kind === 'answer') {
        changed ||= result.changed;
        errors = result.ok ? 0 : errors + 1;
        await context.note('tool', describeCall(call), { ok: result.ok });
      }
      const content = result.kind === 'answer' ? result.text : 'ok';
      turn.push({ role: 'tool', toolCallId: call.id, content });
    }
    if (ending !== undefined) {
      const objection = await context.objection(ending, messages);
      if (objection === undefined) {
        await context.keep(turn, reply, changed);
        return ending;
      }
      turn.push({ role: 'user', content: objection });
    } else if (reply.toolCalls.length === 0) {
      turn.push({ role: 'user', content: 'Your answer was cut because it grew too long. Go on in smaller steps.' });
      errors += 1;
    }
    await context.keep(turn, reply, changed);
    messages.push(...turn);
    const repeated = repeatedCall(messages);
    if (repeated !== undefined)
      throw new RunFailed('model', `the same call ${maxRepeats} times over: ${describeCall(repeated)}`);
    if (errors >= maxErrors) throw new RunFailed('model', `${maxErrors} errors in a row; the last: ${lastText(turn)}`);
  }
}

/** The only call of the last turns, when it was the same each time; seen in the messages, so a crash forgets nothing. */
function repeatedCall(messages: Message[]): ToolCall | undefined {
  const last = messages.filter((m) => m.role === 'assistant').slice(-maxRepeats);
  const calls = last.flatMap((m) => (m.toolCalls?.length === 1 ? m.toolCalls : []));
  const [first] = calls;
  const isSame = calls.every((c) => c.name === first?.name && c.arguments === first?.arguments);
  return calls.length === maxRepeats && isSame ? first : undefined;
}

/** Who goes on with the work is told all of it, and a pull request has room for 65,536 characters. */
const maxWords = 10_000;
const maxSteps = 20;

function cut(text: string): string {
  return text.length > maxWords ? `${text.slice(0, maxWords)}\n[… ${text.length - maxWords} characters cut …]` : text;
}

function endingOf(given: FinishArguments, isCalled: boolean, { shown }: LoopContext): Ending {
  const finish = shown(given);
  const nextSteps = finish.nextSteps.slice(0, maxSteps).map((step) => step.slice(0, 500));
  return { finish: { ...finish, summary: cut(finish.summary), nextSteps }, isCalled };
}

function splitInto(subtasks: NewSubtask[]): Ending {
  const nextSteps = subtasks.map((s) => s.title);
  return { finish: { summary: `Split into ${subtasks.length} subtasks.`, nextSteps }, isCalled: true, subtasks };
}

function notRun(why: string): ToolResult {
  return { kind: 'answer', text: `not run: ${why}`, ok: true, changed: false };
}

/** So often the conversation is told shorter when the model finds it too long. */
const maxShortenings = 3;

async function replyOf(context: LoopContext, messages: Message[], shortenings = 0): Promise<Reply> {
  const { model, offered, signal, note } = context;
  const began = performance.now();
  try {
    const told = fitContext(messages, contextChars / 2 ** shortenings);
    const reply = await model.reply(told, toolSpecs(offered), signal);
    const { inputTokens, outputTokens } = reply;
    const ms = Math.round(performance.now() - began);
    await note('model', `${model.name} answered`, { inputTokens, outputTokens, ms });
    return reply;
  } catch (error) {
    if (!(error instanceof ModelFailed)) throw error;
    if (error.fault !== 'context') throw new RunFailed(error.fault, error.message);
    if (shortenings === maxShortenings) throw new RunFailed('model', error.message);
    return replyOf(context, messages, shortenings + 1);
  }
}

function lastText(turn: Message[]): string {
  return (turn.at(-1)?.content ?? '').slice(0, 300);
}

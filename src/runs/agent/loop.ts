import { exhausted, type Limits, type Spent } from '../../domain/budget.ts';
import { RunFailed } from '../../domain/run.ts';
import { storableText } from '../../domain/text/storable.ts';
import {
  type Message,
  type Model,
  ModelFailed,
  messageOf,
  type Reply,
  type ReplyOptions,
  type ToolCall,
} from '../../llm/model.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import { cutText, type Ending, finishedWith, type Judgement, splitInto } from './ending.ts';
import { contextChars, fitContext } from './fit-context.ts';
import type { Offered, ToolResult } from './tools/tool.ts';
import { callTool, describeCall, toolSpecs } from './tools.ts';

export interface LoopContext {
  model: Model;
  host: ToolHost;
  offered: Offered;
  signal: AbortSignal;
  limits: Limits;
  /** Shows the text of the model while it arrives. */
  live?: Pick<ReplyOptions, 'onText' | 'onRestart'>;
  spent(): Promise<Spent>;
  /** Stores a turn before the next one begins. `changed` says whether a tool may have changed the workspace. */
  keep(turn: Message[], reply: Reply, changed: boolean): Promise<void>;
  /** Adds an answer outside of the conversation to the cost of the run. It is no turn. */
  bill(reply: Reply): Promise<void>;
  /** Decides whether the conversation may end like this. `messages` excludes the turn in which it ends. */
  judge(ending: Ending, messages: Message[]): Promise<Judgement>;
  /** Adds a line to the log of the run. */
  note(type: string, text: string, data?: object): Promise<void>;
  /** Removes the credentials from every string in a value. */
  withoutSecrets<T>(value: T): T;
}

/** At most this many calls of one turn are carried out. The model is told that the others were not. */
const maxCalls = 100;
/** The run fails when the model makes the same call this many times in a row. */
const maxRepeats = 3;
/** The run fails after this many errors in a row. Any call that works resets the count. */
const maxErrors = 3;

/**
 * Runs the conversation between model and tools until the model ends it or a limit is reached. Continues from the given
 * messages and appends to them.
 * @throws RunFailed budget, model, gave_up, rate_limit, auth; or the reason of the signal
 */
export async function converse(context: LoopContext, messages: Message[]): Promise<Ending> {
  let errors = 0;
  for (;;) {
    context.signal.throwIfAborted();
    const used = exhausted(context.limits, await context.spent());
    if (used !== undefined) throw new RunFailed('budget', used);
    const reply = await replyOf(context, messages);
    const turn = await takeTurn(context, reply, errors);
    const judgement = turn.ending && (await context.judge(turn.ending, messages));
    if (judgement?.accepted === false) turn.messages.push({ role: 'user', content: judgement.objection });
    await context.keep(turn.messages, reply, turn.changed);
    if (turn.reason !== undefined) throw new RunFailed('gave_up', turn.reason);
    if (turn.ending !== undefined && judgement?.accepted) return { ...turn.ending, ...judgement.evidence };
    messages.push(...turn.messages);
    errors = turn.errors;
    failIfStuck(messages, errors);
  }
}

/** The result of one reply of the model. */
interface Turn {
  /** The reply, and the results of its calls. */
  messages: Message[];
  /** Whether a tool may have changed the workspace. */
  changed: boolean;
  /** Errors in a row so far, including earlier turns. */
  errors: number;
  ending?: Ending;
  /** Set when the model gave up. */
  reason?: string;
}

async function takeTurn(context: LoopContext, reply: Reply, errors: number): Promise<Turn> {
  const turn: Turn = {
    messages: [messageOf(reply)],
    changed: false,
    errors,
  };
  if (reply.toolCalls.length === 0) takeText(context, reply, turn);
  for (const [i, call] of reply.toolCalls.entries()) {
    context.signal.throwIfAborted();
    const result = i < maxCalls ? await resultOf(context, call, turn, reply.isCut) : notRun(`over ${maxCalls} calls`);
    if (result.kind === 'answer') await context.note('tool', describeCall(call), { ok: result.ok });
    addResult(context, turn, call, result);
    if (turn.reason !== undefined) break;
  }
  return turn;
}

function addResult({ withoutSecrets }: LoopContext, turn: Turn, call: ToolCall, result: ToolResult): void {
  let content = 'ok';
  switch (result.kind) {
    case 'give_up':
      turn.reason = cutText(withoutSecrets(result.reason));
      return;
    case 'finish':
      turn.ending = finishedWith(withoutSecrets(result.finish), true);
      break;
    case 'split':
      turn.ending = splitInto(withoutSecrets(result.subtasks));
      break;
    case 'answer':
      turn.changed ||= result.changed;
      turn.errors = result.ok ? 0 : turn.errors + 1;
      content = result.text;
  }
  turn.messages.push({ role: 'tool', toolCallId: call.id, content });
}

/** Treats text without a call as `finish`, unless the text was cut off. */
function takeText(context: LoopContext, reply: Reply, turn: Turn): void {
  if (reply.isCut) {
    turn.errors += 1;
    const content = 'Your reply was cut off because it was too long. Continue in smaller steps.';
    turn.messages.push({ role: 'user', content });
  } else {
    const summary = storableText(reply.text.trim()) || 'Done.';
    turn.ending = finishedWith(context.withoutSecrets({ summary, nextSteps: [] }), false);
  }
}

async function resultOf(context: LoopContext, call: ToolCall, turn: Turn, isCut: boolean): Promise<ToolResult> {
  if (turn.ending !== undefined) return notRun('an earlier call in this reply ended the run');
  return callTool(context, call, { isCut });
}

function notRun(why: string): ToolResult {
  return { kind: 'answer', text: `not run: ${why}`, ok: true, changed: false };
}

/**
 * Ends a conversation that makes no progress.
 * @throws RunFailed `model` when the model repeats the same call or makes only errors
 */
function failIfStuck(messages: Message[], errors: number): void {
  const repeated = repeatedCall(messages);
  if (repeated !== undefined)
    throw new RunFailed(
      'model',
      `the model made the same call ${maxRepeats} times in a row: ${describeCall(repeated)}`,
    );
  if (errors < maxErrors) return;
  const last = (messages.at(-1)?.content ?? '').slice(0, 300);
  throw new RunFailed('model', `the model made ${errors} errors in a row; the last one: ${last}`);
}

/**
 * Returns the call that each of the last turns made as its only call, or undefined if they differ. Messages are stored,
 * so after a takeover the turns of the earlier worker count too.
 */
function repeatedCall(messages: Message[]): ToolCall | undefined {
  const last = messages.filter((m) => m.role === 'assistant').slice(-maxRepeats);
  const calls = last.flatMap((m) => (m.toolCalls?.length === 1 ? m.toolCalls : []));
  const [first] = calls;
  const isSame = calls.every((c) => c.name === first?.name && c.arguments === first?.arguments);
  return calls.length === maxRepeats && isSame ? first : undefined;
}

/**
 * How many times the conversation is shortened when the model rejects it as too long. Each time its limit is halved.
 */
const maxShortenings = 3;

async function replyOf(context: LoopContext, messages: Message[], shortenings = 0): Promise<Reply> {
  const { model, offered, signal, note } = context;
  const began = performance.now();
  try {
    const fitted = fitContext(messages, contextChars / 2 ** shortenings);
    const reply = await model.reply(fitted, toolSpecs(offered), signal, context.live);
    const { inputTokens, cachedInputTokens, outputTokens } = reply;
    const ms = Math.round(performance.now() - began);
    await note('model', `${model.name} answered`, { inputTokens, cachedInputTokens, outputTokens, ms });
    return reply;
  } catch (error) {
    if (!(error instanceof ModelFailed)) throw error;
    if (error.fault !== 'context') throw new RunFailed(error.fault, error.message);
    if (shortenings === maxShortenings) throw new RunFailed('model', error.message);
    return replyOf(context, messages, shortenings + 1);
  }
}

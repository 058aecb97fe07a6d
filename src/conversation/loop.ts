import { exhausted, type Limits, type Spent } from '../domain/budget.ts';
import { RunFailed } from '../domain/run.ts';
import { oneLine, storable, storableText } from '../domain/text/sanitize.ts';
import type { NewWait } from '../domain/waiting.ts';
import {
  type Message,
  type Model,
  type ModelAnswer,
  ModelFailed,
  messageOf,
  type ReplyOptions,
  type ToolCall,
  type ToolSpec,
} from '../llm/model.ts';
import type { ToolHost } from '../sandbox/sandbox.ts';
import {
  cutText,
  type Ending,
  type Evidence,
  finishedWith,
  type HeldWait,
  type JudgedEnding,
  type Judgement,
  ModelUnavailable,
  Parked,
  splitInto,
} from './ending.ts';
import { exchangesOf, factsOf } from './facts.ts';
import {
  limitOf,
  lowerLimit,
  type Memory,
  measure,
  openingLength,
  planCut,
  promptLength,
  promptOf,
  summaryLimit,
} from './memory.ts';
import { part } from './prompts.ts';
import { countMisses, failIfStuck, limitWarning, missText, repeatHint } from './stuck.ts';
import { ofLastRun } from './take-up.ts';
import type { Offered, ToolResult } from './tools/tool.ts';
import { callTool, describeCall, toolSpecs } from './tools.ts';

/** How often the model may refuse the conversation as too long. Each time, it is shortened as far as possible. */
const maxShortenings = 4;

/**
 * Asks the model for its next answer, with as much of the conversation as fits.
 * @throws RunFailed rate_limit, auth, model; ModelUnavailable when the server asks to wait
 */
async function replyTo(context: LoopContext, messages: Message[]): Promise<ModelAnswer> {
  const { model, memory } = context;
  const tools = toolSpecs(context.offered);
  for (let refusals = 0; ; refusals++) {
    await cutIfLong(context, messages);
    const prompt = promptOf(messages, memory.cut);
    try {
      const reply = await askOnce(context, prompt, tools);
      measure(memory, prompt, tools, reply);
      return reply;
    } catch (error) {
      const refusal = asRefusal(error);
      if (refusals === maxShortenings) throw new RunFailed('model', refusal.message, { cause: refusal });
      const fixed = promptLength(messages.slice(0, openingLength(messages)), tools);
      lowerLimit(memory, model, { length: promptLength(prompt, tools), fixed, isFirst: refusals === 0 });
    }
  }
}

/**
 * Returns the refusal of a prompt that is too long.
 * @throws any other error, in the form that ends or parks the run
 */
function asRefusal(error: unknown): ModelFailed {
  if (!(error instanceof ModelFailed)) throw error;
  if (error.isTransient) throw new ModelUnavailable(error);
  if (error.fault !== 'context') throw new RunFailed(error.fault, error.message, { cause: error });
  return error;
}

/** At most this many calls of an answer are listed in the log before they are executed. */
const maxListed = 50;

async function askOnce(
  { model, signal, note, live, withoutSecrets }: LoopContext,
  prompt: Message[],
  tools: ToolSpec[],
): Promise<ModelAnswer> {
  const began = performance.now();
  const reply = await model.reply(prompt, tools, signal, live);
  const { inputTokens, cachedInputTokens, outputTokens } = reply;
  const ms = Math.round(performance.now() - began);
  const calls = withoutSecrets(reply.toolCalls.slice(0, maxListed)).map(describeCall);
  await note('model', `${model.name} answered`, { inputTokens, cachedInputTokens, outputTokens, ms, calls });
  return reply;
}

/** Cuts the conversation if the next prompt would be too long, and stores the cut. */
async function cutIfLong(context: LoopContext, messages: Message[]): Promise<void> {
  const { memory, model, offered, note } = context;
  const limit = limitOf(memory, model);
  const overhead = promptLength([], toolSpecs(offered));
  const plan = planCut(messages, memory.cut, limit, overhead);
  if (plan === undefined) return;
  const isMore = plan.upTo > (memory.cut?.upTo ?? 0);
  const summary = isMore
    ? await summarize(context, messages.slice(0, plan.upTo), summaryLimit(limit))
    : (memory.cut?.summary ?? '');
  memory.cut = { ...plan, summary };
  await memory.keep(memory);
  await note('loop', 'the conversation was cut, because it became longer than a prompt may be', { limit });
}

/** Longest answer of a request for a summary, in tokens. */
const summaryTokens = 4000;

/**
 * Asks the model to summarize the beginning of the conversation. The request continues the earlier prompts, so that the
 * server reads them from its cache. When the model does not answer, the service lists the facts.
 */
async function summarize(context: LoopContext, messages: Message[], maxChars: number): Promise<string> {
  const { model, offered, signal, memory, withoutSecrets } = context;
  const prompt: Message[] = [...promptOf(messages, memory.cut), { role: 'user', content: part('summary') }];
  const reply = await model
    .reply(prompt, toolSpecs(offered), signal, { maxOutputTokens: summaryTokens })
    .catch((error) => {
      if (!(error instanceof ModelFailed)) throw error;
      return undefined;
    });
  const said = withoutSecrets(storableText(reply?.text.trim() ?? ''));
  const text = said === '' ? withFacts(messages, memory.cut?.summary) : said;
  return storableText(text.slice(0, maxChars));
}

function withFacts(messages: Message[], before = ''): string {
  return [before, factsOf(messages)].filter((text) => text !== '').join('\n\n');
}

export interface LoopContext {
  model: Model;
  host: ToolHost;
  offered: Offered;
  signal: AbortSignal;
  /** Returns the limits that apply now. */
  limits(): Promise<Limits>;
  /** Shows the model's text while it arrives. */
  live?: Pick<ReplyOptions, 'onText' | 'onRestart'>;
  spent(): Promise<Spent>;
  memory: Memory;
  /**
   * Returns what people said to the agent since its last turn.
   * @throws Parked when somebody asked the run to pause
   */
  hear(): Promise<Message[]>;
  /** Returns whether people said something that the last `hear` did not return. */
  hasMore(): Promise<boolean>;
  /**
   * Stores a turn before the next one begins. `changed` says whether a tool may have changed the workspace. With a
   * `wait`, the run waits from then on.
   */
  keep(turn: Message[], reply: ModelAnswer, changed: boolean, wait?: NewWait | HeldWait): Promise<void>;
  /** Decides whether the conversation may end like this. `messages` ends with the turn that ends it. */
  judge(ending: Ending, messages: Message[]): Promise<Judgement>;
  /** Keeps the answer to a comment until the run ends. Returns false when the run was not asked for such a comment. */
  answerComment?(id: string, text: string): Promise<boolean>;
  /** Adds a line to the log of the run. */
  note(type: string, text: string, data?: object): Promise<void>;
  /** Removes the credentials from every string in a value. */
  withoutSecrets<T>(value: T): T;
}

/** At most this many tool calls of one turn are executed. The model is told that the others were not. */
const maxCalls = 100;

/**
 * Runs the conversation between model and tools until the model ends it or a limit is reached. Continues from the given
 * messages and appends to them. Everything that decides how it goes on is in the messages, so another worker that
 * continues with them decides the same.
 * @throws RunFailed budget, model, gave_up, rate_limit, auth; ModelUnavailable; Parked; or the reason of the signal
 */
export async function converse(context: LoopContext, messages: Message[]): Promise<JudgedEnding> {
  const again = await judgeAgain(context, messages);
  if (again?.accepted) return { ...again.ending, ...again.evidence };
  let objection = again?.objection;
  for (;;) {
    context.signal.throwIfAborted();
    const heard = await context.hear();
    if (objection !== undefined) heard.push({ role: 'user', content: objection });
    objection = undefined;
    failIfStuck(messages);
    const limits = await context.limits();
    const spent = await context.spent();
    const used = exhausted(limits, spent);
    if (used !== undefined) throw new RunFailed('budget', used);
    const remarks = [...heard, ...limitWarning(limits, spent, messages)];
    const asked = messages.concat(remarks);
    const reply = await replyTo(context, asked);
    const turn = await takeTurn(context, reply);
    const judgement = turn.ending && (await context.judge(turn.ending, [...asked, ...turn.messages]));
    answerEnding(turn, judgement);
    await noteObjection(context, judgement);
    addRemarks(turn, reply, asked);
    // Stored text loses some characters. The next prompt must have the same text as one after a takeover.
    const kept = storable([...remarks, ...turn.messages]);
    await context.keep(kept, reply, turn.changed, turn.wait);
    if (turn.wait !== undefined) throw new Parked();
    messages.push(...kept);
    if (turn.reason !== undefined) throw new RunFailed('gave_up', turn.reason);
    if (turn.ending !== undefined && judgement?.accepted) return { ...turn.ending, ...judgement.evidence };
  }
}

/** The result of one reply from the model. */
interface Turn {
  /** The reply, the results of its calls, and what the service remarks. */
  messages: Message[];
  /** Whether a tool may have changed the workspace. */
  changed: boolean;
  /** Whether any call was valid, even if it failed. */
  isValid: boolean;
  ending?: Ending;
  /** The call that ends the conversation. */
  endedBy?: ToolCall;
  /** Set when the model gave up. */
  reason?: string;
  /** What the run waits for after this turn. */
  wait?: NewWait | HeldWait;
}

async function takeTurn(context: LoopContext, reply: ModelAnswer): Promise<Turn> {
  const turn: Turn = { messages: [messageOf(reply)], changed: false, isValid: false };
  for (const [i, call] of reply.toolCalls.entries()) {
    context.signal.throwIfAborted();
    const began = performance.now();
    const result = i < maxCalls ? await resultOf(context, call, turn, reply.isCut) : notRun(`over ${maxCalls} calls`);
    if (result.kind === 'answer') await noteCall(context, call, { result, nth: i, ms: performance.now() - began });
    addResult(context, turn, call, result);
  }
  return turn;
}

/** Logs a call with its place among the calls of the turn, so that the log and the turn can be shown together. */
async function noteCall(
  { note, withoutSecrets }: LoopContext,
  call: ToolCall,
  { result, nth, ms }: { result: ToolResult & { kind: 'answer' }; nth: number; ms: number },
): Promise<void> {
  const { ok, exitCode } = result;
  const outcome = exitCode === undefined ? { ok } : { ok, exitCode };
  // Without secrets before it is cut, because half a secret would not be found.
  await note('tool', describeCall(withoutSecrets(call)), { ...outcome, call: nth, ms: Math.round(ms) });
}

function addResult({ withoutSecrets }: LoopContext, turn: Turn, call: ToolCall, result: ToolResult): void {
  turn.isValid ||= result.kind !== 'answer' || result.isInvalid !== true;
  if (result.kind === 'answer') {
    turn.changed ||= result.changed;
    turn.messages.push({ role: 'tool', toolCallId: call.id, content: result.text });
    return;
  }
  if (result.kind === 'wait') {
    turn.wait = result.wait;
    turn.messages.push({ role: 'tool', toolCallId: call.id, content: result.text });
    return;
  }
  turn.endedBy = call;
  if (result.kind === 'give_up') turn.reason = cutText(withoutSecrets(result.reason));
  else if (result.kind === 'finish') turn.ending = endingOf(withoutSecrets(result));
  else turn.ending = splitInto(withoutSecrets(result.subtasks));
  turn.messages.push({ role: 'tool', toolCallId: call.id, content: 'ok' });
}

function endingOf({ finish, review }: ToolResult & { kind: 'finish' }): Ending {
  return review === undefined ? finishedWith(finish) : { ...finishedWith(finish), review };
}

async function resultOf(context: LoopContext, call: ToolCall, turn: Turn, isCut: boolean): Promise<ToolResult> {
  if (turn.endedBy !== undefined) return notRun('an earlier call in this reply ended the run');
  if (turn.wait !== undefined) return notRun('the run waits for people first; call it again after that');
  const result = await callTool(context, call, { isCut });
  // A message that arrived while the model wrote may answer the question or change the plan.
  return result.kind === 'wait' && (await context.hasMore()) ? saidMeanwhile(call) : result;
}

function saidMeanwhile({ name }: ToolCall): ToolResult {
  const text = `Nobody has seen this, because somebody said something to you. Read the next message, then call ${name} again if you still need it.`;
  return { kind: 'answer', text, ok: true, changed: false };
}

function notRun(why: string): ToolResult {
  return { kind: 'answer', text: `not run: ${why}`, ok: true, changed: false, isInvalid: true };
}

/** The result of a `finish` that a person decides about. A worker finds it in the conversation, and judges it again. */
const waitsForPerson = 'The run waits until a person allows set-up of this change to use the network.';
const notYet = 'Set-up of this change still needs the approval of a person. Call finish again.';

/**
 * Judges the ending at which a conversation began to wait for a person, unless somebody has said something since. Returns
 * undefined if it did not wait so.
 */
async function judgeAgain(
  context: LoopContext,
  messages: Message[],
): Promise<
  { accepted: true; ending: Ending; evidence: Evidence } | { accepted: false; objection: string } | undefined
> {
  const last = exchangesOf(ofLastRun(messages)).at(-1);
  const call = last?.calls.find(({ id }) => last.results.get(id) === waitsForPerson);
  if (call === undefined || (await context.hear()).length > 0) return undefined;
  const result = await callTool(context, call, { isCut: false });
  if (result.kind !== 'finish') return undefined;
  const ending = finishedWith(context.withoutSecrets(result.finish));
  const judgement = await context.judge(ending, messages);
  if (judgement.accepted) return { ...judgement, ending };
  return { accepted: false, objection: 'wait' in judgement ? notYet : judgement.objection };
}

/** Tells the model that its ending does not count yet, and why. */
function answerEnding(turn: Turn, judgement: Judgement | undefined): void {
  if (judgement === undefined || judgement.accepted) return;
  const isWaiting = 'wait' in judgement;
  for (const message of turn.messages)
    if (message.role === 'tool' && message.toolCallId === turn.endedBy?.id)
      message.content = isWaiting ? waitsForPerson : 'The run has not ended. Read the next message.';
  if (isWaiting) turn.wait = judgement.wait;
  else turn.messages.push({ role: 'user', content: judgement.objection });
}

/** Logs why an ending does not count yet. This is the first paragraph of what the model is told; a diff or a long output may follow it. */
async function noteObjection({ note }: LoopContext, judgement: Judgement | undefined): Promise<void> {
  if (judgement === undefined || !('objection' in judgement)) return;
  const [told = ''] = judgement.objection.split('\n\n', 1);
  await note('loop', `the agent was told: ${oneLine(told, 500)}`, { isOutput: true });
}

/** Tells the model what was expected of its answer, or that it repeats itself. */
function addRemarks(turn: Turn, { toolCalls, isCut }: ModelAnswer, asked: Message[]): void {
  const before = countMisses(asked);
  const remark = turn.isValid
    ? repeatHint([...asked, ...turn.messages])
    : missText(before + 1, { isText: toolCalls.length === 0, isCut });
  if (remark !== undefined) turn.messages.push({ role: 'user', content: remark });
}

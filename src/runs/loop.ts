import { type Budgets, exhausted, type Spent } from '../domain/budget.ts';
import { RunFailed } from '../domain/run.ts';
import { storableText } from '../domain/storable.ts';
import { type Message, type Model, ModelFailed, type Reply, type ToolCall } from '../llm/model.ts';
import type { ToolHost } from '../sandbox/sandbox.ts';
import { callTool, describeCall, type FinishArguments, type ToolResult, toolSpecs } from './tools.ts';

/** How the conversation ended; `isCalled: false` for a bare text without a call of `finish`. */
export interface Ending {
  finish: FinishArguments;
  isCalled: boolean;
}

export interface LoopContext {
  model: Model;
  host: ToolHost;
  signal: AbortSignal;
  budgets: Budgets;
  spent(): Promise<Spent>;
  /** Keeps a turn before the next one begins. `changed`: the workspace may differ from before. */
  keep(turn: Message[], reply: Reply, changed: boolean): Promise<void>;
  /** What the host has against proposing the work as it is; said to the model once. */
  objection(): Promise<string | undefined>;
  note(type: string, text: string, data?: object): Promise<void>;
}

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
  let objected = false;
  for (;;) {
    context.signal.throwIfAborted();
    const used = exhausted(context.budgets, await context.spent());
    if (used !== undefined) throw new RunFailed('budget', used);
    const reply = await replyOf(context, messages);
    const turn: Message[] = [{ role: 'assistant', content: reply.text, toolCalls: reply.toolCalls }];
    let changed = false;
    let ending: Ending | undefined;
    if (reply.toolCalls.length === 0 && !reply.isCut)
      ending = { finish: { summary: storableText(reply.text.trim()) || 'Done.', nextSteps: [] }, isCalled: false };
    for (const call of reply.toolCalls) {
      context.signal.throwIfAborted();
      const result = ending === undefined ? await callTool(context.host, call) : skipped();
      if (result.kind === 'give_up') {
        await context.keep(turn, reply, changed);
        throw new RunFailed('gave_up', result.reason);
      }
      if (result.kind === 'finish') ending = { finish: result.finish, isCalled: true };
      if (result.kind === 'answer') {
        changed ||= result.changed;
        errors = result.ok ? 0 : errors + 1;
        await context.note('tool', describeCall(call), { ok: result.ok });
      }
      const content = result.kind === 'answer' ? result.text : 'ok';
      turn.push({ role: 'tool', toolCallId: call.id, content });
    }
    if (ending !== undefined) {
      const objection = objected ? undefined : await context.objection();
      if (objection === undefined) {
        await context.keep(turn, reply, changed);
        return ending;
      }
      objected = true;
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

function skipped(): ToolResult {
  return { kind: 'answer', text: 'not run: the work was ended before', ok: true, changed: false };
}

async function replyOf({ model, host, signal, note }: LoopContext, messages: Message[]): Promise<Reply> {
  const began = performance.now();
  try {
    const reply = await model.reply(messages, toolSpecs(host.hasShell), signal);
    const { inputTokens, outputTokens } = reply;
    const ms = Math.round(performance.now() - began);
    await note('model', `${model.name} answered`, { inputTokens, outputTokens, ms });
    return reply;
  } catch (error) {
    if (error instanceof ModelFailed) throw new RunFailed(error.fault, error.message);
    throw error;
  }
}

function lastText(turn: Message[]): string {
  return (turn.at(-1)?.content ?? '').slice(0, 300);
}

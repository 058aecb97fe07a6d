import type { Failure } from '../domain/run.ts';
import { storableText } from '../domain/text/sanitize.ts';
import { type Message, ModelFailed } from '../llm/model.ts';
import { parseArguments } from '../repositories/read-tools.ts';
import type { LoopContext } from './loop.ts';
import { promptOf } from './memory.ts';
import { part } from './prompts.ts';
import { FinishCall } from './tools/tool.ts';
import { toolSpecs } from './tools.ts';

/** What a run leaves for the next run of its task. */
export interface Handoff {
  summary: string;
  nextSteps: string[];
}

/** Longest answer of a request for a handoff, in tokens. */
const handoffTokens = 2000;
/** A run that failed does not wait longer than this for its handoff. */
const patienceMs = 120_000;

/**
 * Asks the model, with one request, what the next run should know. It continues the conversation, so that the server
 * reads it from its cache. Returns undefined when the model does not answer. `signal` aborts when this worker loses the
 * run; the limits of the run do not apply.
 */
export async function askForHandoff(
  { model, offered, memory, withoutSecrets }: LoopContext,
  messages: Message[],
  failure: Failure,
  signal: AbortSignal,
): Promise<Handoff | undefined> {
  if (!messages.some((m) => m.role === 'assistant')) return undefined;
  const question = `The run has ended. Reason: ${failure.message}\n\n${part('handoff')}`;
  const prompt: Message[] = [...promptOf(messages, memory.cut), { role: 'user', content: question }];
  const patience = AbortSignal.timeout(patienceMs);
  try {
    const reply = await model.reply(prompt, toolSpecs(offered), AbortSignal.any([signal, patience]), {
      maxOutputTokens: handoffTokens,
    });
    const [call] = reply.toolCalls.filter(({ name }) => name === 'finish');
    const finish = call && parseArguments(FinishCall, call.arguments);
    if (finish?.ok) return withoutSecrets({ summary: finish.value.summary, nextSteps: finish.value.nextSteps });
    const summary = withoutSecrets(storableText(reply.text.trim()));
    return summary === '' ? undefined : { summary, nextSteps: [] };
  } catch (error) {
    if (error instanceof ModelFailed || (patience.aborted && !signal.aborted)) return undefined;
    throw error;
  }
}

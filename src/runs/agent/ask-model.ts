import { RunFailed } from '../../domain/run.ts';
import { storableText } from '../../domain/text/storable.ts';
import { type Message, ModelFailed, type Reply, type ToolSpec } from '../../llm/model.ts';
import { ModelAway } from '../waiting/model-away.ts';
import { factsOf } from './context/facts.ts';
import { openingLength, planCut, promptLength, promptOf, summaryLimit } from './context/fit-context.ts';
import { limitOf, lowerLimit, measure } from './context/memory.ts';
import type { LoopContext } from './loop.ts';
import { part } from './prompts/part.ts';
import { describeCall, toolSpecs } from './tools.ts';

/** How often the model may refuse the conversation as too long. Each time, it is shortened as far as possible. */
const maxShortenings = 4;

/**
 * Asks the model for its next answer, with as much of the conversation as fits.
 * @throws RunFailed rate_limit, auth, model; ModelAway when the server asks to wait
 */
export async function replyTo(context: LoopContext, messages: Message[]): Promise<Reply> {
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
  if (error.isTransient) throw new ModelAway(error);
  if (error.fault !== 'context') throw new RunFailed(error.fault, error.message, { cause: error });
  return error;
}

/** At most this many calls of an answer are listed in the log before they are executed. */
const maxListed = 50;

async function askOnce(
  { model, signal, note, live, withoutSecrets }: LoopContext,
  prompt: Message[],
  tools: ToolSpec[],
): Promise<Reply> {
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
 * server reads them from its cache. When the model does not answer, the host lists the facts.
 */
async function summarize(context: LoopContext, messages: Message[], maxChars: number): Promise<string> {
  const { model, offered, signal, memory, bill, withoutSecrets } = context;
  const prompt: Message[] = [...promptOf(messages, memory.cut), { role: 'user', content: part('summary') }];
  const reply = await model
    .reply(prompt, toolSpecs(offered), signal, { maxOutputTokens: summaryTokens })
    .catch((error) => {
      if (!(error instanceof ModelFailed)) throw error;
      return undefined;
    });
  if (reply !== undefined) await bill(reply);
  const said = withoutSecrets(storableText(reply?.text.trim() ?? ''));
  const text = said === '' ? withFacts(messages, memory.cut?.summary) : said;
  return storableText(text.slice(0, maxChars));
}

function withFacts(messages: Message[], before = ''): string {
  return [before, factsOf(messages)].filter((text) => text !== '').join('\n\n');
}

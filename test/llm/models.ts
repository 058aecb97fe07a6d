import OpenAI from 'openai';
import { type Message, type Model, type ModelAnswer, messageOf, type ReplyOptions } from '../../src/llm/model.ts';
import { type ModelServer, openaiModels } from '../../src/llm/openai.ts';
import { withReadableErrors } from '../../src/llm/refusals/failure.ts';
import { fetchFromModel } from '../../src/outgoing/fetch-from.ts';
import { add, calculate, multiply, question } from './servers/sample.ts';

export const key = 'sk-test-1234567890';

/** Connects to a server as the service does. */
export function modelsAt(baseURL: string, more: Partial<ModelServer> = {}, maxSilenceMs = 60_000) {
  const fetch = withReadableErrors(fetchFromModel(120, { maxSilenceMs }));
  return openaiModels({
    connect: (apiKey) => new OpenAI({ apiKey, baseURL, maxRetries: 0, logLevel: 'off', fetch }),
    seconds: 120,
    api: 'auto',
    clean: (text, secret) => text.replaceAll(secret, '***'),
    ...more,
  });
}

export const opening: Message[] = [
  { role: 'system', content: 'You calculate.' },
  { role: 'user', content: question },
];
const tools = [multiply, add];
const never = new AbortController().signal;

export const ask = (model: Model, options: ReplyOptions = {}, messages = opening): Promise<ModelAnswer> =>
  model.reply(messages, tools, never, options);

/** Runs the sample conversation to its end and returns its replies. As in a run, the turns pass through JSON. */
export async function converse(model: Model, options: ReplyOptions = {}): Promise<ModelAnswer[]> {
  let messages: Message[] = [...opening];
  const replies: ModelAnswer[] = [];
  for (;;) {
    const reply = await ask(model, options, messages);
    replies.push(reply);
    if (reply.toolCalls.length === 0) return replies;
    const results = reply.toolCalls.map(({ id, name, arguments: args }): Message => {
      return { role: 'tool', toolCallId: id, content: calculate(name, args) };
    });
    messages = [...messages, ...(JSON.parse(JSON.stringify([messageOf(reply), ...results])) as Message[])];
  }
}

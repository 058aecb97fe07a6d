import type OpenAI from 'openai';
import { z } from 'zod';
import { type Message, ModelFailed, type ModelSource, type Reply, type ReplyOptions, type ToolSpec } from './model.ts';

type Client = Pick<OpenAI, 'chat'>;

/** How long one answer may take. */
const answerMs = 300_000;

/** Models behind Chat Completions, at OpenAI or any compatible server. `connect` makes the client for a key. */
export function openaiModels(connect: (key: string) => Client): ModelSource {
  return {
    withKey: (name, key) => {
      const client = connect(key);
      return {
        name,
        reply: (messages, tools, signal, options) => ask(client, name, { messages, tools, signal, ...options }),
      };
    },
  };
}

interface Asked extends ReplyOptions {
  messages: Message[];
  tools: ToolSpec[];
  signal: AbortSignal;
}

async function ask(client: Client, model: string, { messages, tools, signal, force, onText }: Asked): Promise<Reply> {
  const body = {
    model,
    messages: messages.map(sent),
    ...(tools.length > 0 ? { tools: tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })) } : {}),
    ...(force === undefined ? {} : { tool_choice: { type: 'function' as const, function: { name: force } } }),
  };
  const limits = { signal, timeout: answerMs };
  try {
    if (onText === undefined)
      return received(await unbroken(() => client.chat.completions.create(body, limits), signal));
    const stream = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }, limits);
    stream.on('content', onText);
    return received(await stream.finalChatCompletion());
  } catch (error) {
    signal.throwIfAborted();
    throw failed(error);
  }
}

/** How often an answer that breaks off on its way is asked for again; the client itself repeats what never began. */
const maxBreaks = 2;

async function unbroken<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let breaks = 0; ; breaks++)
    try {
      return await ask();
    } catch (error) {
      const isBroken = !('status' in (error as object)) && !signal.aborted;
      if (!isBroken || breaks === maxBreaks) throw error;
    }
}

function sent(message: Message): OpenAI.ChatCompletionMessageParam {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role !== 'assistant') return message;
  const calls = message.toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: args },
  }));
  return { role: 'assistant', content: message.content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

/** Whatever a compatible server counts, our sums take whole numbers. */
const tokens = z
  .number()
  .transform((n) => Math.min(Math.max(Math.round(n), 0), 1e7))
  .catch(0);

/** What we read of an answer. Text may come in parts; arguments as JSON of JSON, or as the JSON itself. */
const answer = z.object({
  choices: z.tuple(
    [
      z.object({
        message: z.object({
          content: z
            .union([z.string(), z.array(z.object({ text: z.string().catch('') })).transform(joined)])
            .nullish()
            .transform((text) => text ?? ''),
          tool_calls: z
            .array(
              z.object({
                id: z.string().catch(''),
                type: z.string().catch('function'),
                function: z.object({
                  name: z.string(),
                  // Some compatible servers leave them out of a call that takes none.
                  arguments: z
                    .union([z.string(), z.looseObject({}).transform((given) => JSON.stringify(given))])
                    .nullish()
                    .transform((given) => given ?? '{}'),
                }),
              }),
            )
            .nullish()
            .transform((calls) => calls ?? []),
        }),
        finish_reason: z.string().nullish(),
      }),
    ],
    z.unknown(),
  ),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish().catch(null),
});

function joined(parts: { text: string }[]): string {
  return parts.map((part) => part.text).join('');
}

/** @throws ModelFailed for what is no Chat Completion: compatible servers and proxies before them answer all sorts of things */
function received(completion: unknown): Reply {
  const { data, error } = answer.safeParse(completion);
  if (data === undefined) {
    const where = error.issues[0]?.path.join('.') || 'the answer itself';
    throw new ModelFailed('model', `the model server's answer is no Chat Completion: ${where} is not as it should be`);
  }
  const [{ message, finish_reason }] = data.choices;
  const calls = message.tool_calls.filter((call) => call.type === 'function');
  return {
    text: message.content,
    toolCalls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args })),
    inputTokens: data.usage?.prompt_tokens ?? 0,
    outputTokens: data.usage?.completion_tokens ?? 0,
    isCut: finish_reason === 'length',
  };
}

function failed(error: unknown): ModelFailed {
  if (error instanceof ModelFailed) return error;
  const { status, code } = error as { status?: number; code?: unknown };
  if (status === 413 || (status === 400 && code === 'context_length_exceeded'))
    return new ModelFailed('context', 'the conversation is longer than the model takes');
  // The server's own words may repeat the key; its status says enough.
  if (status === 401 || status === 403)
    return new ModelFailed('auth', `the model server refused the key (HTTP ${status})`);
  if (status === 429) return new ModelFailed('rate_limit', 'the model server limits the rate (HTTP 429)');
  if (status !== undefined) return new ModelFailed('model', `the model server answered with HTTP ${status}`);
  const name = (error as Error).name;
  return new ModelFailed('model', `the model server could not be reached (${name})`);
}

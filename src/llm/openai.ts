import type OpenAI from 'openai';
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

function received(completion: OpenAI.ChatCompletion): Reply {
  const choice = completion.choices?.[0];
  if (choice?.message === undefined) throw new ModelFailed('model', 'the model answered without a message');
  const calls = (choice.message.tool_calls ?? []).filter((call) => call.type === 'function');
  return {
    text: choice.message.content ?? '',
    toolCalls: calls.map((call) => ({ id: call.id, name: call.function.name, arguments: call.function.arguments })),
    inputTokens: completion.usage?.prompt_tokens ?? 0,
    outputTokens: completion.usage?.completion_tokens ?? 0,
    isCut: choice.finish_reason === 'length',
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

import { setTimeout as sleep } from 'node:timers/promises';
import type OpenAI from 'openai';
import { growingPauseMs, retryAfterMs } from '../domain/patience.ts';
import { refusedAnswer } from '../errors.ts';
import { replyOf } from './completion.ts';
import { gather } from './completion-stream.ts';
import { type Message, ModelFailed, type ModelSource, type Reply, type ReplyOptions, type ToolSpec } from './model.ts';

/** A client with its own retries turned off. */
type Client = Pick<OpenAI, 'chat'>;

/**
 * Connects to models behind the Chat Completions API, at OpenAI or any compatible server. `connect` creates the client
 * for a key. An answer takes at most `seconds`, including retries and pauses.
 */
export function openaiModels(connect: (key: string) => Client, seconds: number): ModelSource {
  return {
    withKey: (name, key) => {
      const client = connect(key);
      return {
        name,
        reply: (messages, tools, signal, options) =>
          ask(client, name, seconds, { messages, tools, signal, ...options }),
        window: () => undefined,
      };
    },
  };
}

interface Asked extends ReplyOptions {
  messages: Message[];
  tools: ToolSpec[];
  signal: AbortSignal;
}

async function ask(client: Client, model: string, seconds: number, asked: Asked): Promise<Reply> {
  const { messages, tools, force, onText } = asked;
  const body = {
    model,
    messages: messages.map(sent),
    ...(tools.length > 0 ? { tools: tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })) } : {}),
    ...(force === undefined ? {} : { tool_choice: { type: 'function' as const, function: { name: force } } }),
  };
  const over = AbortSignal.timeout(1000 * seconds);
  const signal = AbortSignal.any([asked.signal, over]);
  const limits = { signal, timeout: 1000 * seconds };
  let isTold = false;
  const tell = (text: string) => {
    isTold = true;
    onText?.(text);
  };
  const once = async () => {
    if (onText === undefined) return replyOf(await client.chat.completions.create(body, limits));
    const streamed = { ...body, stream: true as const, stream_options: { include_usage: true } };
    return replyOf(await gather(await client.chat.completions.create(streamed, limits), tell));
  };
  try {
    return await repeated(once, { signal, endsAt: performance.now() + 1000 * seconds, isOver: () => isTold });
  } catch (error) {
    asked.signal.throwIfAborted();
    if (over.aborted) throw new ModelFailed('model', `the model server's answer was not complete after ${seconds} s`);
    throw failed(error);
  }
}

const maxRetries = 4;
const firstPauseMs = 500;
const longestPauseMs = 8000;

/** Retries temporary failures until `endsAt`. Pauses as long as the server asks, or else longer each time. */
async function repeated<T>(
  once: () => Promise<T>,
  { signal, endsAt, isOver }: { signal: AbortSignal; endsAt: number; isOver: () => boolean },
): Promise<T> {
  for (let retries = 0; ; retries++)
    try {
      return await once();
    } catch (error) {
      const { status, headers } = error as { status?: number; headers?: Headers };
      const isFinal = error instanceof ModelFailed || refusedAnswer(error) !== undefined || isOver();
      if (isFinal || !isPassing(status) || retries === maxRetries || signal.aborted) throw error;
      const pauseMs =
        retryAfterMs(headers?.get('retry-after')) ?? growingPauseMs(retries, firstPauseMs, longestPauseMs);
      if (performance.now() + pauseMs > endsAt) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
}

/**
 * Returns whether a failure may be temporary. Without a status the server could not be reached, or its answer ended
 * early.
 */
function isPassing(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;
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

function failed(error: unknown): ModelFailed {
  if (error instanceof ModelFailed) return error;
  const refused = refusedAnswer(error);
  if (refused !== undefined) return new ModelFailed('model', `the model server's answer ${refused.what}`);
  const { status, code } = error as { status?: number; code?: unknown };
  if (status === 413 || (status === 400 && code === 'context_length_exceeded'))
    return new ModelFailed('context', 'the conversation is longer than the model accepts');
  // The server's message may contain the key, so only the status is shown.
  if (status === 401 || status === 403)
    return new ModelFailed('auth', `the model server refused the key (HTTP ${status})`);
  if (status === 429) return new ModelFailed('rate_limit', 'the model server limits the rate (HTTP 429)');
  if (status !== undefined) return new ModelFailed('model', `the model server answered with HTTP ${status}`);
  const name = (error as Error).name;
  return new ModelFailed('model', `the model server could not be reached (${name})`);
}

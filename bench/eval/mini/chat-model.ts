import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatMessage } from '../oracle/conversation.ts';

export interface ModelAnswer {
  message: ChatMessage;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}

/** Requests the next message of a conversation. @throws Error when the server keeps failing */
export type ChatModel = (messages: ChatMessage[], tools: object[]) => Promise<ModelAnswer>;

/** mini-swe-agent asks ten times. Its pauses of 4 to 60 s are shortened here. */
const maxAttempts = 10;
const pauseMs = 500;

export function chatModel({ url, key, name }: { url: string; key: string; name: string }): ChatModel {
  const ask = async (body: string): Promise<ModelAnswer> => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (!answer.ok) throw new Refused(answer.status, text, Number(answer.headers.get('retry-after')));
    const { choices, usage } = JSON.parse(text) as Completion;
    const message = choices[0]?.message;
    if (message === undefined) throw new Error('the answer has no message');
    return {
      message,
      inputTokens: usage?.prompt_tokens ?? 0,
      cachedInputTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      outputTokens: usage?.completion_tokens ?? 0,
    };
  };
  return async (messages, tools) => {
    const body = JSON.stringify({ model: name, messages, tools });
    for (let attempt = 1; ; attempt++)
      try {
        return await ask(body);
      } catch (error) {
        const { isFinal = false, afterMs = pauseMs } = error instanceof Refused ? error : {};
        if (isFinal || attempt === maxAttempts) throw error;
        await sleep(afterMs);
      }
  };
}

interface Completion {
  choices: { message?: ChatMessage }[];
  usage?: {
    prompt_tokens?: number;
    prompt_tokens_details?: { cached_tokens?: number };
    completion_tokens?: number;
  };
}

/** A status that is not success. Only overload and faults of the server are worth another attempt. */
class Refused extends Error {
  readonly isFinal: boolean;
  readonly afterMs: number;

  constructor(status: number, text: string, retryAfter: number) {
    super(`the model server answered ${status}: ${text.slice(0, 300)}`);
    this.isFinal = status !== 429 && status < 500;
    this.afterMs = retryAfter > 0 ? retryAfter * 1000 : pauseMs;
  }
}

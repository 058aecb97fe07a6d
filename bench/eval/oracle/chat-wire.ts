import type { Answer } from './answer.ts';
import type { ChatMessage } from './conversation.ts';

/** A request for a Chat Completion, as far as an oracle reads it. */
export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: { function: { name: string } }[];
  stream?: boolean;
}

/** The input tokens of a request, roughly, and how many of them a cache had. */
export interface InputTokens {
  all: number;
  cached: number;
}

/** Tokens of a text, roughly. */
export const tokensOf = (text: string) => Math.ceil(text.length / 4);

/** Writes an answer as a Chat Completion. */
export function chatCompletion(model: string, id: string, { text, calls, isCut }: Answer, input: InputTokens) {
  const tool_calls = calls.map((call, i) => ({ id: `call_${id}_${i}`, type: 'function' as const, function: call }));
  const output = tokensOf(text) + calls.reduce((sum, call) => sum + tokensOf(call.name + call.arguments), 0);
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        finish_reason: isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
        message: { role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls } : {}) },
      },
    ],
    usage: {
      prompt_tokens: input.all,
      prompt_tokens_details: { cached_tokens: input.cached },
      completion_tokens: output,
      total_tokens: input.all + output,
    },
  };
}

/** Splits a Chat Completion into the events of a stream. */
export function chatEvents({ choices, usage, ...rest }: ReturnType<typeof chatCompletion>): string[] {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...rest,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const [choice] = choices;
  const calls = choice?.message.tool_calls ?? [];
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    ...(choice?.message.content === '' ? [] : [chunk({ content: choice?.message.content })]),
    ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, choice?.finish_reason),
    { ...rest, object: 'chat.completion.chunk', choices: [], usage },
  ];
  return [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'];
}

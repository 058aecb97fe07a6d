import type { Image, Message, ToolCall } from '../model.ts';
import { type Asked, isStreamed } from '../wire-format.ts';
import type { ChatKept } from './kept.ts';

/** Builds a request of the Chat Completions API. */
export function chatRequest(model: string, asked: Asked): Record<string, unknown> {
  const { tools, force, effort, maxOutputTokens } = asked;
  return {
    model,
    messages: asked.messages.map((message) => sent(model, message)),
    ...(tools.length > 0 ? { tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })) } : {}),
    ...(force === undefined ? {} : { tool_choice: { type: 'function', function: { name: force } } }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(maxOutputTokens === undefined ? {} : { max_completion_tokens: maxOutputTokens }),
    ...(isStreamed(asked) ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

function sent(model: string, message: Message): Record<string, unknown> {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role === 'assistant') return sentAnswer(model, message);
  const { role, content } = message;
  const images = message.role === 'user' ? (message.images ?? []) : [];
  if (images.length === 0) return { role, content };
  return { role, content: [{ type: 'text', text: content }, ...images.map(sentImage)] };
}

function sentImage({ mediaType, base64 }: Image): object {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}` } };
}

function sentAnswer(model: string, message: Extract<Message, { role: 'assistant' }>): Record<string, unknown> {
  const { content, toolCalls } = message;
  const kept = keptBy(model, message);
  return {
    ...kept?.message,
    role: 'assistant',
    content: kept?.content ?? textOf(content, toolCalls.length > 0),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map((call) => sentCall(call, kept?.calls[call.id])) } : {}),
  };
}

function keptBy(model: string, { kept }: Extract<Message, { role: 'assistant' }>): ChatKept | undefined {
  if (kept?.wire !== 'chat') return undefined;
  const items = kept.items as ChatKept;
  return items.model === model ? items : undefined;
}

/**
 * Anthropic refuses empty texts, and an answer with neither text nor calls is an error at llama.cpp. An answer that was
 * cut during its reasoning has neither.
 */
function textOf(content: string, hasCalls: boolean): string | null {
  if (content !== '') return content;
  return hasCalls ? null : '(no answer)';
}

function sentCall({ id, name, arguments: args }: ToolCall, extra: Record<string, unknown> = {}): object {
  return { ...extra, id, type: 'function', function: { name, arguments: validArguments(args) } };
}

/**
 * Returns arguments that are a JSON object. vLLM, Ollama and llama.cpp parse the arguments of earlier calls and refuse
 * the whole request when a model wrote broken JSON once, so the model sees its text in a field instead.
 */
export function validArguments(args: string): string {
  try {
    const value: unknown = JSON.parse(args);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return args;
  } catch {
    if (args.trim() === '') return '{}';
  }
  return JSON.stringify({ invalid_json: args });
}

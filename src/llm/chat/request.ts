import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Image, Message, ToolCall } from '../model.ts';
import { type Asked, isStreamed } from '../wire-format.ts';
import type { ChatKept } from './answer.ts';

/** Builds a request of the Chat Completions API. */
export function chatRequest(model: string, asked: Asked): ChatCompletionCreateParams {
  const { tools, force, effort, maxOutputTokens } = asked;
  const request: ChatCompletionCreateParamsNonStreaming = {
    model,
    messages: asked.messages.map((message) => sent(model, message)),
  };
  if (tools.length > 0) request.tools = tools.map((tool) => ({ type: 'function', function: { ...tool } }));
  if (force !== undefined) request.tool_choice = { type: 'function', function: { name: force } };
  if (effort !== undefined) request.reasoning_effort = effort;
  if (maxOutputTokens !== undefined) request.max_completion_tokens = maxOutputTokens;
  return isStreamed(asked) ? { ...request, stream: true, stream_options: { include_usage: true } } : request;
}

function sent(model: string, message: Message): ChatCompletionMessageParam {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role === 'assistant') return sentAnswer(model, message);
  const { role, content } = message;
  if (role === 'system' || message.images === undefined || message.images.length === 0) return { role, content };
  return { role, content: [{ type: 'text', text: content }, ...message.images.map(sentImage)] };
}

function sentImage({ mediaType, base64 }: Image): ChatCompletionContentPart {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}` } };
}

type Answer = Extract<Message, { role: 'assistant' }>;

function sentAnswer(model: string, message: Answer): ChatCompletionAssistantMessageParam {
  const { content, toolCalls } = message;
  const kept = keptBy(model, message);
  const answer: ChatCompletionAssistantMessageParam = {
    ...kept?.message,
    role: 'assistant',
    content: kept?.content ?? textOf(content, toolCalls.length > 0),
  };
  if (toolCalls.length > 0) answer.tool_calls = toolCalls.map((call) => sentCall(call, kept?.calls[call.id]));
  return answer;
}

/** The narrow place where what a server sent gets a type: it goes back unchanged, so nothing here reads it. */
function keptBy(model: string, { kept }: Answer): ChatKept | undefined {
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

function sentCall({ id, name, arguments: args }: ToolCall, extra: object = {}): ChatCompletionMessageFunctionToolCall {
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

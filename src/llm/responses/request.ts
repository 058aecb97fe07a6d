import type {
  FunctionTool,
  ResponseCreateParams,
  ResponseCreateParamsNonStreaming,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import { validArguments } from '../chat/request.ts';
import { isFields } from '../merge.ts';
import type { Image, Message, ToolSpec } from '../model.ts';
import { type Asked, isStreamed } from '../wire-format.ts';
import { type ResponsesKept, readOutput } from './answer.ts';

/**
 * Builds a request of the Responses API. The server stores nothing: every request has the whole conversation, with the
 * reasoning of earlier turns in encrypted form.
 */
export function responsesRequest(model: string, asked: Asked): ResponseCreateParams {
  const { tools, force, effort, maxOutputTokens } = asked;
  const request: ResponseCreateParamsNonStreaming = {
    model,
    input: asked.messages.flatMap((message) => itemsOf(model, message)),
    store: false,
    include: ['reasoning.encrypted_content'],
  };
  if (tools.length > 0) request.tools = tools.map(sentTool);
  if (force !== undefined) request.tool_choice = { type: 'function', name: force };
  if (effort !== undefined) request.reasoning = { effort };
  if (maxOutputTokens !== undefined) request.max_output_tokens = maxOutputTokens;
  return isStreamed(asked) ? { ...request, stream: true } : request;
}

/** Without `strict: false` the API would require every property of the schema. */
function sentTool({ name, description, parameters }: ToolSpec): FunctionTool {
  return { type: 'function', name, description, parameters, strict: false };
}

function itemsOf(model: string, message: Message): ResponseInputItem[] {
  switch (message.role) {
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.toolCallId, output: message.content }];
    case 'assistant':
      return keptItems(model, message) ?? plainItems(message);
    default:
      return [{ role: message.role, content: contentOf(message) }];
  }
}

function contentOf(message: Extract<Message, { role: 'user' | 'system' }>): string | ResponseInputContent[] {
  const images = message.role === 'user' ? (message.images ?? []) : [];
  if (images.length === 0) return message.content;
  return [{ type: 'input_text', text: message.content }, ...images.map(sentImage)];
}

function sentImage({ mediaType, base64 }: Image): ResponseInputContent {
  return { type: 'input_image', detail: 'auto', image_url: `data:${mediaType};base64,${base64}` };
}

type Answer = Extract<Message, { role: 'assistant' }>;

/**
 * Returns the items of an earlier answer, unchanged. Returns undefined when another model or API wrote it, and when the
 * conversation has other calls or another text by now: a call without a result is refused.
 */
function keptItems(model: string, { kept, content, toolCalls }: Answer): ResponseInputItem[] | undefined {
  if (kept?.wire !== 'responses') return undefined;
  // The narrow place where what a server sent gets a type: it goes back unchanged, whatever it is.
  const { model: writer, output } = kept.items as ResponsesKept;
  if (writer !== model) return undefined;
  const { text, calls } = readOutput(output);
  const isSame = text === content && calls.length === toolCalls.length && calls.every(isIn(toolCalls));
  return isSame && output.every(isFields) ? output : undefined;
}

const isIn = (calls: Answer['toolCalls']) => (call: { id: string }, i: number) => calls[i]?.id === call.id;

function plainItems({ content, toolCalls }: Answer): ResponseInputItem[] {
  const calls = toolCalls.map(({ id, name, arguments: args }): ResponseInputItem => {
    return { type: 'function_call', call_id: id, name, arguments: validArguments(args) };
  });
  return content === '' ? calls : [{ role: 'assistant', content }, ...calls];
}

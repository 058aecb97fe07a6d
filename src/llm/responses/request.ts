import { validArguments } from '../chat/request.ts';
import { isFields } from '../merge.ts';
import type { Image, Message, ToolSpec } from '../model.ts';
import { type Asked, isStreamed } from '../wire-format.ts';
import { type ResponsesKept, readOutput } from './output.ts';

/**
 * Builds a request of the Responses API. The server stores nothing: every request has the whole conversation, with the
 * reasoning of earlier turns in encrypted form.
 */
export function responsesRequest(model: string, asked: Asked): Record<string, unknown> {
  const { tools, force, effort, maxOutputTokens } = asked;
  return {
    model,
    input: asked.messages.flatMap((message) => itemsOf(model, message)),
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(tools.length > 0 ? { tools: tools.map(sentTool) } : {}),
    ...(force === undefined ? {} : { tool_choice: { type: 'function', name: force } }),
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(isStreamed(asked) ? { stream: true } : {}),
  };
}

/** Without `strict: false` the API would require every property of the schema. */
function sentTool({ name, description, parameters }: ToolSpec): object {
  return { type: 'function', name, description, parameters, strict: false };
}

function itemsOf(model: string, message: Message): unknown[] {
  switch (message.role) {
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.toolCallId, output: message.content }];
    case 'assistant':
      return keptItems(model, message) ?? plainItems(message);
    default:
      return [{ role: message.role, content: contentOf(message) }];
  }
}

function contentOf(message: Extract<Message, { role: 'user' | 'system' }>): unknown {
  const images = message.role === 'user' ? (message.images ?? []) : [];
  if (images.length === 0) return message.content;
  return [{ type: 'input_text', text: message.content }, ...images.map(sentImage)];
}

function sentImage({ mediaType, base64 }: Image): object {
  return { type: 'input_image', detail: 'auto', image_url: `data:${mediaType};base64,${base64}` };
}

type Answer = Extract<Message, { role: 'assistant' }>;

/**
 * Returns the items of an earlier answer, unchanged. Returns undefined when another model or API wrote it, and when the
 * conversation has other calls or another text by now: a call without a result is refused.
 */
function keptItems(model: string, { kept, content, toolCalls }: Answer): unknown[] | undefined {
  if (kept?.wire !== 'responses') return undefined;
  const { model: writer, output } = kept.items as ResponsesKept;
  if (writer !== model) return undefined;
  const { text, calls } = readOutput(output);
  const isSame = text === content && calls.length === toolCalls.length && calls.every(isIn(toolCalls));
  return isSame && output.every(isFields) ? output : undefined;
}

const isIn = (calls: Answer['toolCalls']) => (call: { id: string }, i: number) => calls[i]?.id === call.id;

function plainItems({ content, toolCalls }: Answer): unknown[] {
  return [
    ...(content === '' ? [] : [{ role: 'assistant', content }]),
    ...toolCalls.map(({ id, name, arguments: args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: validArguments(args),
    })),
  ];
}

import type { Answer } from './answer.ts';
import { type ChatRequest, type InputTokens, tokensOf } from './chat-wire.ts';
import type { ChatMessage } from './conversation.ts';

interface ResponsesRequest {
  model: string;
  instructions?: string | null;
  input: string | Item[];
  tools?: { type: string; name?: string }[];
  stream?: boolean;
}

interface Item {
  type?: string;
  role?: string;
  content?: unknown;
  call_id?: string;
  name?: string;
  arguments?: string;
  output?: unknown;
}

/** Reads a request of the Responses API as one for a Chat Completion. */
export function asChatRequest({
  model,
  instructions,
  input,
  tools = [],
  stream = false,
}: ResponsesRequest): ChatRequest {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const messages: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : [];
  for (const item of items) addItem(messages, item);
  return { model, messages, tools: tools.map(({ name = '' }) => ({ function: { name } })), stream };
}

/** Adds an item. The calls of one turn follow each other, after the turn's text if it has one. */
function addItem(messages: ChatMessage[], item: Item): void {
  const { type, role, content, call_id = '', name = '', arguments: given = '', output } = item;
  if (type === 'function_call') {
    const last = messages.at(-1);
    const turn = last?.role === 'assistant' ? last : { role: 'assistant', content: '' };
    if (turn !== last) messages.push(turn);
    turn.tool_calls = [...(turn.tool_calls ?? []), { id: call_id, function: { name, arguments: given } }];
  } else if (type === 'function_call_output') {
    const text = typeof output === 'string' ? output : textOfParts(output);
    messages.push({ role: 'tool', tool_call_id: call_id, content: text });
  } else if (role !== undefined) messages.push({ role, content });
}

function textOfParts(parts: unknown): string {
  return Array.isArray(parts) ? parts.map((part) => (part as { text?: string }).text ?? '').join('') : '';
}

/** Writes an answer as a response of the Responses API. */
export function response(model: string, id: string, { text, calls, isCut }: Answer, input: InputTokens) {
  const status = isCut ? 'incomplete' : 'completed';
  const message = {
    type: 'message',
    id: `msg_${id}`,
    role: 'assistant',
    status,
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const functionCalls = calls.map((call, i) => ({
    type: 'function_call',
    id: `fc_${id}_${i}`,
    call_id: `call_${id}_${i}`,
    status,
    ...call,
  }));
  const output = tokensOf(text) + calls.reduce((sum, call) => sum + tokensOf(call.name + call.arguments), 0);
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 0,
    model,
    status,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: [...(text === '' ? [] : [message]), ...functionCalls],
    usage: {
      input_tokens: input.all,
      input_tokens_details: { cached_tokens: input.cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input.all + output,
    },
  };
}

/** Splits a response into the events of a stream. */
export function responseEvents(whole: ReturnType<typeof response>): string[] {
  const started = { ...whole, status: 'in_progress', output: [], usage: null };
  const events: { type: string; [field: string]: unknown }[] = [{ type: 'response.created', response: started }];
  for (const [output_index, item] of whole.output.entries()) {
    events.push({ type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } });
    if ('content' in item) {
      const at = { item_id: item.id, output_index, content_index: 0 };
      events.push({ type: 'response.output_text.delta', ...at, delta: item.content[0]?.text ?? '' });
      events.push({ type: 'response.output_text.done', ...at, text: item.content[0]?.text ?? '' });
    } else {
      const at = { item_id: item.id, output_index };
      events.push({ type: 'response.function_call_arguments.delta', ...at, delta: item.arguments });
      events.push({ type: 'response.function_call_arguments.done', ...at, arguments: item.arguments });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  }
  events.push({ type: `response.${whole.status}`, response: whole });
  return events.map(
    (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  );
}

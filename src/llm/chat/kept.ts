import type { ChatCompletionContentPartText } from 'openai/resources/chat/completions';

/** What a Chat Completions server sent with a message besides text and calls. */
export interface ChatKept {
  /** The model that wrote it. Another model could not use it. */
  model: string;
  /** Unknown fields of the message, such as `reasoning_content` and `reasoning_details`. */
  message: object;
  /** Unknown fields of the calls, by call id, such as Gemini's `extra_content`. */
  calls: Record<string, object>;
  /** The content, if it came in parts; Mistral puts its reasoning there, in parts that OpenAI's API does not have. */
  content?: ChatCompletionContentPartText[];
}

const messageFields = ['role', 'content', 'tool_calls'];
/** Fields of answers that requests do not need. OpenAI sends them empty. */
const answerFields = ['refusal', 'annotations', 'audio', 'function_call'];
/** `index` numbers the calls of a stream. */
const callFields = ['id', 'type', 'function', 'index'];

/** Returns the fields of a message that the service does not read itself. */
export function unknownFields(message: Record<string, unknown>): Record<string, unknown> {
  return without(message, [...messageFields, ...answerFields]);
}

export function unknownCallFields(call: Record<string, unknown>): Record<string, unknown> {
  return without(call, callFields);
}

function without(fields: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

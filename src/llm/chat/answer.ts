import { randomUUID } from 'node:crypto';
import type { ChatCompletionContentPartText } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { answerWithin, keptWithin, maxCalls, tooManyCalls } from '../bounds.ts';
import { isFields } from '../merge.ts';
import { type ModelAnswer, ModelFailed, type ToolCall } from '../model.ts';
import { AnswerIsError, malformedAnswer } from '../refusals/refusal.ts';
import { usage } from '../usage.ts';
import { Interrupted } from '../wire-format.ts';

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

/** A part of the content. Only parts of type `text` belong to the answer; others may be reasoning. */
const part = z.looseObject({ type: z.string().catch('text'), text: z.string().catch('') });

/** A call. Compatible servers send arguments as plain JSON too, and some omit them when there are none. */
const call = z.looseObject({
  id: z.string().catch(''),
  type: z.string().catch('function'),
  function: z.looseObject({
    name: z.string(),
    arguments: z
      .union([z.string(), z.looseObject({}).transform((given) => JSON.stringify(given))])
      .nullish()
      .transform((given) => given ?? '{}'),
  }),
});

/** The fields that the service reads. Text may come in parts. */
const answer = z.object({
  choices: z.tuple(
    [
      z.object({
        message: z.looseObject({
          content: z.union([z.string(), z.array(part).max(maxCalls)]).nullish(),
          refusal: z.string().nullish().catch(null),
          function_call: call.shape.function.nullish().catch(null),
          tool_calls: z
            .array(call)
            .max(maxCalls)
            .nullish()
            .transform((calls) => calls ?? []),
        }),
        finish_reason: z.string().nullish(),
      }),
    ],
    z.unknown(),
  ),
  usage,
});

type Message = z.output<typeof answer>['choices'][0]['message'];

/**
 * Reads a Chat Completion.
 * @throws ModelFailed for other data, which compatible servers and proxies sometimes send, and for a refusal of the
 * model; AnswerIsError when the server reports an error in place of an answer; Interrupted when it ended early
 */
export function chatReply(model: string, completion: unknown): ModelAnswer {
  failOnError(completion);
  const { data, error } = answer.safeParse(completion);
  if (error?.issues[0]?.code === 'too_big') throw tooManyCalls();
  if (data === undefined) throw malformedAnswer('Chat Completion', error.issues[0]?.path, completion);
  const [{ message: given, finish_reason }] = data.choices;
  const message = withLegacyCall(given);
  const text = textOf(message);
  failOnReason(finish_reason, message, text);
  const calls = withIds(message.tool_calls.filter(({ type }) => type === 'function'));
  return answerWithin({
    text,
    toolCalls: calls.map(({ id, function: { name, arguments: args } }): ToolCall => ({ id, name, arguments: args })),
    ...keptOf(model, message, calls),
    ...data.usage,
    isCut: finish_reason === 'length' || finish_reason === 'model_length',
  });
}

/** The API from before November 2023 had one call, in a field of its own. Some servers still answer like that. */
function withLegacyCall(message: Message): Message {
  const { function_call: called, tool_calls } = message;
  if (!called?.name || tool_calls.length > 0) return message;
  return { ...message, tool_calls: [{ id: '', type: 'function', function: called }] };
}

/** OpenRouter reports errors of its providers with status 200, in place of the answer or inside of it. */
function failOnError(completion: unknown): void {
  if (!isFields(completion)) return;
  const [choice] = Array.isArray(completion.choices) ? completion.choices : [];
  const error = completion.error ?? (isFields(choice) ? choice.error : undefined);
  if (error != null) throw new AnswerIsError(error);
}

function failOnReason(reason: string | null | undefined, { refusal, tool_calls }: Message, text: string): void {
  const isEmpty = text === '' && tool_calls.length === 0;
  if (reason === 'content_filter')
    throw new ModelFailed(
      'model',
      "the model server's content filter stopped the answer; describe the task differently, or use another model",
    );
  if (isEmpty && refusal)
    throw new ModelFailed(
      'model',
      `the model refused to answer; describe the task differently, or use another model. It said: ${refusal.slice(0, 500)}`,
    );
  // DeepSeek ends an answer like this when its servers are overloaded; OpenRouter when its provider failed.
  if (reason === 'insufficient_system_resource' || reason === 'error')
    throw new Interrupted(`the model server stopped the answer (${reason})`);
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ type, text }) => (type === 'text' || type === 'output_text' ? text : '')).join('');
}

/** Gives every call an id of its own. Some servers send empty ids, or the same one for all calls of an answer. */
function withIds<C extends { id: string }>(calls: C[]): C[] {
  const used = new Set<string>();
  return calls.map((each) => {
    const id = each.id === '' || used.has(each.id) ? `call_${randomUUID().replaceAll('-', '').slice(0, 24)}` : each.id;
    used.add(id);
    return { ...each, id };
  });
}

function keptOf(model: string, message: Message, calls: z.output<typeof call>[]) {
  const ofMessage = unknownFields(message);
  const ofCalls = Object.fromEntries(
    calls
      .map((each) => [each.id, unknownCallFields(each)] as const)
      .filter(([, extra]) => Object.keys(extra).length > 0),
  );
  const parts = Array.isArray(message.content) ? { content: message.content } : {};
  const isPlain = Object.keys({ ...ofMessage, ...ofCalls, ...parts }).length === 0;
  return isPlain ? {} : keptWithin('chat', { model, message: ofMessage, calls: ofCalls, ...parts });
}

import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { z } from 'zod';
import { badAnswer, CharCount, maxCalls, tooManyCalls } from '../bounds.ts';
import { doneEvent, untilBroken } from '../events.ts';
import { mergeFields } from '../merge.ts';
import type { Image, Message, ToolCall } from '../model.ts';
import { AnswerIsError } from '../refusals/refusal.ts';
import { hasTokens } from '../usage.ts';
import { type Asked, Interrupted, isStreamed, type Tell } from '../wire-format.ts';
import { type ChatKept, unknownCallFields, unknownFields } from './answer.ts';

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

/** Arguments are text. Compatible servers send them as plain JSON too. */
const argumentText = z.union([z.string(), z.looseObject({}).transform((given) => JSON.stringify(given))]).nullish();

/** What is called. In the API from before November 2023 this was the only call of an answer. */
const called = z.looseObject({ name: z.string().nullish(), arguments: argumentText });

/** A piece of a call in a stream. */
const callPart = z.looseObject({
  index: z.int().min(0).nullish().catch(null),
  id: z.string().nullish().catch(null),
  type: z.string().nullish().catch(null),
  function: called.nullish(),
});

type CallPart = z.output<typeof callPart>;

interface Call {
  id: string;
  name: string;
  /** Only `custom` matters: a call of a tool that is no function. */
  type: string;
  arguments: string;
  extra: Record<string, unknown>;
  /** The first piece had a name and all arguments, so another piece with both is another call. */
  isWhole: boolean;
}

/** The calls of a streamed answer, assembled piece by piece. */
class StreamedCalls {
  readonly #count: CharCount;
  readonly #tell: Pick<Tell, 'call'>;
  /** The calls by their index. A call that begins at the index of another one replaces it here, but not in `#calls`. */
  readonly #open = new Map<number, Call>();
  readonly #calls: Call[] = [];

  constructor(count: CharCount, tell: Pick<Tell, 'call'>) {
    this.#count = count;
    this.#tell = tell;
  }

  /** @throws ModelFailed when there are too many calls, or they are too long */
  add(part: CallPart): void {
    const call = this.#callOf(part);
    // Some servers repeat the id and the name in every piece, and some make up a new id each time.
    call.id ||= this.#count.counted(part.id);
    call.type ||= part.type ?? '';
    call.name = this.#count.counted(part.function?.name) || call.name;
    const piece = this.#count.counted(part.function?.arguments);
    call.arguments += piece;
    if (piece !== '') this.#tell.call(call.name, piece);
    mergeFields(call.extra, unknownCallFields(part), this.#count);
  }

  /** Returns the calls as an answer that is not streamed has them. */
  all(): { function: object }[] {
    return this.#calls.map(({ id, name, type, arguments: args, extra }) => ({
      ...extra,
      id,
      ...(type === 'custom' ? { type } : {}),
      function: { name, arguments: args },
    }));
  }

  /** Returns the call that a piece continues or begins. Without an index it can only continue the last one. */
  #callOf(part: CallPart): Call {
    const { index } = part;
    const open = index == null ? this.#calls.at(-1) : this.#open.get(index);
    if (open !== undefined && isContinued(open, part)) return open;
    if (this.#calls.length >= maxCalls || (index ?? 0) >= maxCalls) throw tooManyCalls();
    const isWhole = Boolean(part.function?.name) && isObject(part.function?.arguments ?? '');
    const call = { id: '', name: '', type: '', arguments: '', extra: {}, isWhole };
    if (index != null) this.#open.set(index, call);
    this.#calls.push(call);
    return call;
  }
}

/**
 * Returns whether a piece continues a call. Gemini sends each call whole, with a new id and always with index 0; others
 * send whole calls without an id.
 */
function isContinued(open: Call, { id, function: called }: CallPart): boolean {
  if (!called?.name || open.name === '') return true;
  if (id && open.id !== '') return id === open.id;
  return called.name === open.name && !(open.isWhole && called.arguments);
}

function isObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The fields of a chunk that the service reads. */
const chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .looseObject({
            content: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
            refusal: z.string().nullish().catch(null),
            tool_calls: z.array(callPart).nullish(),
            function_call: called.nullish().catch(null),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
        error: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
});

type Delta = NonNullable<NonNullable<z.output<typeof chunk>['choices']>[number]['delta']>;

/**
 * Assembles a streamed Chat Completion and passes its text and its calls on as they arrive. The client library has a
 * helper for this, but the helper loops up to whatever index a server sends.
 * @throws ModelFailed when the stream is malformed; Interrupted when it ends early
 */
export async function gatherChat(events: AsyncIterable<unknown>, tell: Tell): Promise<unknown> {
  const answer = new StreamedAnswer(tell);
  // What follows the last piece is only the usage. Losing it costs less than paying for the answer twice.
  for await (const each of untilBroken(events, () => answer.isFinished())) {
    if (each === doneEvent) {
      answer.end();
      break;
    }
    const text = answer.add(each);
    if (text !== '') tell.text(text);
  }
  return answer.completion();
}

/** A Chat Completion that is assembled chunk by chunk. */
class StreamedAnswer {
  readonly #count = new CharCount();
  readonly #calls: StreamedCalls;
  /** The call in the field `function_call`, which counts if there is no other. */
  readonly #legacy: StreamedCalls;
  readonly #extra: Record<string, unknown> = {};
  /** The parts of the content, if it comes in parts. */
  readonly #parts: Record<string, unknown>[] = [];
  #content = '';
  #refusal = '';
  #finishReason = '';
  #isDone = false;
  #usage: unknown;

  constructor(tell: Tell) {
    this.#calls = new StreamedCalls(this.#count, tell);
    this.#legacy = new StreamedCalls(this.#count, tell);
  }

  /** Adds a chunk and returns the text in it. @throws ModelFailed or AnswerIsError */
  add(received: unknown): string {
    const { data } = chunk.safeParse(received);
    if (data === undefined)
      throw badAnswer("has a malformed chunk; check OPENAI_API, or look at the model server's log");
    // Some servers count in every chunk, and others send zeros until the last one or in it.
    if (hasTokens(data.usage)) this.#usage = data.usage;
    const [choice] = data.choices ?? [];
    if (choice?.error != null) throw new AnswerIsError(choice.error);
    this.#finishReason ||= choice?.finish_reason ?? '';
    return choice?.delta == null ? '' : this.#addDelta(choice.delta);
  }

  /** Notes the event `[DONE]`. */
  end(): void {
    this.#isDone = true;
  }

  isFinished(): boolean {
    return this.#finishReason !== '';
  }

  /** Returns the completion. @throws Interrupted when the stream ended before the answer was complete */
  completion(): unknown {
    const tool_calls = this.#calls.all();
    const [legacy] = this.#legacy.all();
    const content = this.#parts.length > 0 ? this.#parts : this.#content;
    const hasAnswer = content.length > 0 || tool_calls.length > 0 || legacy !== undefined;
    // Some servers never say why they finished, but every complete stream has a reason or ends in `[DONE]`.
    if (!this.isFinished() && !(this.#isDone && hasAnswer)) throw new Interrupted();
    const message = {
      ...this.#extra,
      content,
      refusal: this.#refusal,
      tool_calls,
      function_call: legacy?.function,
    };
    return { choices: [{ message, finish_reason: this.#finishReason || null }], usage: this.#usage };
  }

  #addDelta(delta: Delta): string {
    mergeFields(this.#extra, unknownFields(delta), this.#count);
    this.#refusal += this.#count.counted(delta.refusal);
    for (const part of delta.tool_calls ?? []) this.#calls.add(part);
    if (delta.function_call != null)
      this.#legacy.add({ index: 0, id: null, type: null, function: delta.function_call });
    if (!Array.isArray(delta.content)) return this.#addText(this.#count.counted(delta.content));
    if (this.#parts.length === 0 && this.#content !== '') this.#addPart({ type: 'text', text: this.#content });
    return delta.content.map((part) => this.#addPart(part)).join('');
  }

  #addText(text: string): string {
    if (this.#parts.length > 0 && text !== '') this.#addPart({ type: 'text', text });
    this.#content += text;
    return text;
  }

  /** Adds a part of the content and returns its text. Texts that follow each other become one part. */
  #addPart(part: Record<string, unknown>): string {
    const last = this.#parts.at(-1);
    const text = part.type === 'text' && typeof part.text === 'string' ? part.text : '';
    // Some servers would refuse an empty part when it is sent back.
    if (part.type === 'text' && text === '') return '';
    if (last?.type === 'text' && part.type === 'text') last.text = `${last.text}${this.#count.counted(text)}`;
    else if (this.#parts.length >= maxCalls) throw badAnswer(`has more than ${maxCalls} parts`);
    else {
      this.#count.counted(JSON.stringify(part));
      this.#parts.push(part);
    }
    return text;
  }
}

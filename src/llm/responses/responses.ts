import type {
  FunctionTool,
  ResponseCreateParams,
  ResponseCreateParamsNonStreaming,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import { z } from 'zod';
import { badAnswer, CharCount, maxCalls, tooManyCalls } from '../bounds.ts';
import { validArguments } from '../chat/completions.ts';
import { doneEvent } from '../events.ts';
import { isFields } from '../merge.ts';
import type { Image, Message, ToolSpec } from '../model.ts';
import { AnswerIsError } from '../refusals/refusal.ts';
import { type Asked, Interrupted, isStreamed, type Tell } from '../wire-format.ts';
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

/** The fields of an event that the service reads. */
const event = z.object({
  type: z.string(),
  // Some adapters send the piece as a part of the content.
  delta: z
    .union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)])
    .nullish()
    .catch(null),
  text: z.string().nullish().catch(null),
  refusal: z.string().nullish().catch(null),
  arguments: z.string().nullish().catch(null),
  output_index: z.int().min(0).nullish().catch(null),
  item_id: z.string().nullish().catch(null),
  item: z.looseObject({}).nullish(),
  response: z.looseObject({ output: z.array(z.unknown()).nullish() }).nullish(),
});

type Event = z.output<typeof event>;

/** The last event of a response. The documentation has no `response.cancelled`, but cancelled responses. */
const ends = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'];

/**
 * Assembles a streamed response and passes its text and its calls on as they arrive.
 * @throws ModelFailed when the stream is malformed; AnswerIsError when the server reports an error; Interrupted when it
 * ends early
 */
export async function gatherResponse(events: AsyncIterable<unknown>, tell: Tell): Promise<unknown> {
  const count = new CharCount();
  const items = new StreamedItems(count, tell);
  const text = new StreamedText(count, items, tell);
  for await (const each of events) {
    if (each === doneEvent) return finished(items.all());
    const data = eventOf(each);
    if (data.type === 'error') throw new AnswerIsError(each);
    if (ends.includes(data.type) && data.response != null) return withItems(data.response, items.all());
    if (!text.add(data)) items.add(data);
  }
  throw new Interrupted();
}

/** The text and the refusal of a response. Both come in pieces, and then once more as a whole. */
class StreamedText {
  readonly #count: CharCount;
  readonly #items: StreamedItems;
  readonly #tell: Pick<Tell, 'text'>;
  /** The text since the last one that was complete. */
  #open = '';

  constructor(count: CharCount, items: StreamedItems, tell: Pick<Tell, 'text'>) {
    this.#count = count;
    this.#items = items;
    this.#tell = tell;
  }

  /** Returns whether the event is about text. @throws ModelFailed when there is too much text */
  add({ type, delta, text, refusal }: Event): boolean {
    if (type === 'response.output_text.delta') this.#put('text', delta);
    else if (type === 'response.refusal.delta') this.#put('refusal', delta);
    else if (type === 'response.output_text.done') this.#end('text', text);
    else if (type === 'response.refusal.done') this.#end('refusal', refusal);
    else return false;
    return true;
  }

  #put(part: 'text' | 'refusal', piece: string | null | undefined): void {
    if (!piece) return;
    this.#open += this.#count.counted(piece);
    this.#items.addText(part, piece);
    if (part === 'text') this.#tell.text(piece);
  }

  /** Some servers send the whole text only. */
  #end(part: 'text' | 'refusal', whole: string | null | undefined): void {
    if (this.#open === '') this.#put(part, whole);
    this.#open = '';
  }
}

/** @throws ModelFailed when the event is malformed */
function eventOf(received: unknown): Event {
  const { data } = event.safeParse(received);
  if (data === undefined) throw badAnswer("has a malformed event; check OPENAI_API, or look at the model server's log");
  return data;
}

/** Some servers end with `[DONE]` alone. @throws Interrupted when there is no answer before it */
function finished(output: unknown[]): unknown {
  if (output.length === 0) throw new Interrupted();
  return { status: 'completed', output };
}

/** The last event repeats all items at OpenAI. Other servers send them only one by one. */
function withItems(response: Record<string, unknown>, items: unknown[]): unknown {
  return Array.isArray(response.output) && response.output.length > 0 ? response : { ...response, output: items };
}

type Fields = Record<string, unknown>;

/** An event about one item. The place of the item in the answer, and its id, may be missing or wrong. */
interface ItemEvent {
  type: string;
  delta?: string | null | undefined;
  arguments?: string | null | undefined;
  output_index?: number | null | undefined;
  item_id?: string | null | undefined;
  item?: Fields | null | undefined;
}

interface Item {
  fields: Fields;
  isDone: boolean;
}

/**
 * The items of a streamed response. OpenAI announces an item, sends its pieces, and repeats it when it is complete. Other
 * servers leave out one or two of these, number all items alike, or give an item another id in each event.
 */
class StreamedItems {
  readonly #count: CharCount;
  readonly #tell: Pick<Tell, 'call'>;
  readonly #items = new Map<number, Item>();
  #text = '';
  #refusal = '';

  constructor(count: CharCount, tell: Pick<Tell, 'call'>) {
    this.#count = count;
    this.#tell = tell;
  }

  /** @throws ModelFailed when there are too many items, or they are too long */
  add(event: ItemEvent): void {
    const { type } = event;
    if (type === 'response.output_item.added') this.#put(event, false);
    else if (type === 'response.output_item.done') this.#put(event, true);
    else if (type === 'response.function_call_arguments.delta')
      this.#setArguments(event, (before) => before + this.#count.counted(event.delta));
    else if (type === 'response.function_call_arguments.done')
      this.#setArguments(event, (before) => this.#count.counted(event.arguments) || before);
  }

  /** Adds text of the answer, or of a refusal, which counts only if no item repeats it. */
  addText(part: 'text' | 'refusal', text: string): void {
    if (part === 'text') this.#text += text;
    else this.#refusal += text;
  }

  /** Returns the complete items in order. A call is also complete without being repeated; so is the text. */
  all(): Fields[] {
    const inOrder = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const items = inOrder.filter(({ fields, isDone }) => isDone || isCall(fields)).map(({ fields }) => fields);
    const content = [
      ...(this.#text === '' ? [] : [{ type: 'output_text', text: this.#text }]),
      ...(this.#refusal === '' ? [] : [{ type: 'refusal', refusal: this.#refusal }]),
    ];
    if (content.length === 0 || items.some(({ type }) => type === 'message')) return items;
    const firstCall = items.findIndex(isCall);
    const message = { type: 'message', role: 'assistant', content };
    return items.toSpliced(firstCall < 0 ? items.length : firstCall, 0, message);
  }

  #put({ output_index, item }: ItemEvent, isDone: boolean): void {
    if (item == null) return;
    const index = (isDone ? this.#indexOfDone(output_index, item) : undefined) ?? this.#freeIndex(output_index);
    if (index >= maxCalls) throw tooManyCalls();
    this.#count.counted(JSON.stringify(item));
    this.#items.set(index, { fields: { ...item }, isDone });
  }

  /** Returns the index of the item that is repeated as complete. */
  #indexOfDone(given: number | null | undefined, item: Fields): number | undefined {
    const ofType = [...this.#items].filter(([, { fields }]) => fields.type === item.type);
    const isSame = ([, { fields }]: [number, Item]) =>
      isEqual(fields.call_id, item.call_id) || isEqual(fields.id, item.id);
    const open = ofType.filter(([, { fields, isDone }]) => !isDone && !isOtherCall(fields, item));
    const found =
      open.find(isSame) ??
      open.find(([index]) => index === given) ??
      ofType.find(isSame) ??
      // Servers that complete all items at the end do so in their order.
      open[0];
    return found?.[0];
  }

  /** Several servers give all items the same index, or repeat it after an item is complete. */
  #freeIndex(given: number | null | undefined): number {
    if (given != null && !this.#items.has(given)) return given;
    return this.#items.size === 0 ? 0 : Math.max(...this.#items.keys()) + 1;
  }

  #setArguments({ output_index, item_id }: ItemEvent, change: (before: string) => string): void {
    const fields = this.#openCall(output_index, item_id);
    if (fields === undefined) return;
    const { arguments: given, name } = fields;
    const before = typeof given === 'string' ? given : '';
    const after = change(before);
    fields.arguments = after;
    // After the pieces, servers send the complete arguments once more. These are not reported again.
    if (after.length > before.length) this.#tell.call(String(name ?? ''), after.slice(before.length));
  }

  /** A piece whose id and index are unknown belongs to the call that was announced last. */
  #openCall(index: number | null | undefined, id: string | null | undefined): Fields | undefined {
    const open = [...this.#items].filter(([, { fields, isDone }]) => isCall(fields) && !isDone);
    const withId = open.find(([, { fields }]) => isEqual(fields.id, id) || isEqual(fields.call_id, id));
    const [, item] = withId ?? open.find(([at]) => at === index) ?? open.at(-1) ?? [];
    return item?.fields;
  }
}

function isEqual(one: unknown, other: unknown): boolean {
  return one != null && one === other;
}

/** Call ids do not change, unlike the ids of items. */
function isOtherCall(one: Fields, other: Fields): boolean {
  return one.call_id != null && other.call_id != null && one.call_id !== other.call_id;
}

function isCall({ type }: Fields): boolean {
  return type === 'function_call';
}

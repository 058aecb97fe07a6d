import { z } from 'zod';
import { badAnswer, CharCount } from '../bounds.ts';
import { doneEvent } from '../events.ts';
import { AnswerIsError } from '../refusals/refusal.ts';
import { Interrupted, type Tell } from '../wire-format.ts';
import { StreamedItems } from './items.ts';

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

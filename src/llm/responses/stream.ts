import { z } from 'zod';
import { badAnswer, CharCount, maxCalls, tooManyCalls } from '../bounds.ts';
import { AnswerIsError } from '../refusal.ts';
import { Interrupted } from '../wire-format.ts';

/** The fields of an event that the service reads. */
const event = z.object({
  type: z.string(),
  delta: z.string().nullish().catch(null),
  output_index: z.int().min(0).nullish(),
  item: z.looseObject({}).nullish(),
  response: z.looseObject({ output: z.array(z.unknown()).nullish() }).nullish(),
});

const ends = ['response.completed', 'response.incomplete', 'response.failed'];

/**
 * Assembles a streamed response and passes its text to `onText` as it arrives.
 * @throws ModelFailed when the stream is malformed; AnswerIsError when the server reports an error; Interrupted when it
 * ends early
 */
export async function gatherResponse(events: AsyncIterable<unknown>, onText: (text: string) => void): Promise<unknown> {
  const count = new CharCount();
  const items = new Map<number, unknown>();
  for await (const each of events) {
    const { data } = event.safeParse(each);
    if (data === undefined)
      throw badAnswer("has a malformed event; check OPENAI_API, or look at the model server's log");
    const { type, delta, response } = data;
    if (type === 'error') throw new AnswerIsError(each);
    if (type === 'response.output_text.delta' && delta) onText(count.counted(delta));
    if (type === 'response.output_item.done') addItem(items, data, count);
    if (ends.includes(type) && response != null) return withItems(response, items);
  }
  throw new Interrupted();
}

function addItem(items: Map<number, unknown>, { item, output_index }: z.output<typeof event>, count: CharCount): void {
  if (item == null) return;
  const index = output_index ?? items.size;
  if (index >= maxCalls) throw tooManyCalls();
  count.counted(JSON.stringify(item));
  items.set(index, item);
}

/** The last event repeats all items at OpenAI. Other servers send them only one by one. */
function withItems(response: Record<string, unknown>, items: Map<number, unknown>): unknown {
  if (Array.isArray(response.output) && response.output.length > 0) return response;
  const inOrder = [...items].sort(([a], [b]) => a - b).map(([, item]) => item);
  return { ...response, output: inOrder };
}

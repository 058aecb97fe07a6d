import { z } from 'zod';
import { badAnswer, CharCount } from '../bounds.ts';
import { doneEvent } from '../events.ts';
import { AnswerIsError } from '../refusals/refusal.ts';
import { Interrupted, type Tell } from '../wire-format.ts';
import { StreamedItems } from './items.ts';

/** The fields of an event that the service reads. */
const event = z.object({
  type: z.string(),
  delta: z.string().nullish().catch(null),
  arguments: z.string().nullish().catch(null),
  output_index: z.int().min(0).nullish().catch(null),
  item: z.looseObject({}).nullish(),
  response: z.looseObject({ output: z.array(z.unknown()).nullish() }).nullish(),
});

const ends = ['response.completed', 'response.incomplete', 'response.failed'];

/**
 * Assembles a streamed response and passes its text and its calls on as they arrive.
 * @throws ModelFailed when the stream is malformed; AnswerIsError when the server reports an error; Interrupted when it
 * ends early
 */
export async function gatherResponse(events: AsyncIterable<unknown>, tell: Tell): Promise<unknown> {
  const count = new CharCount();
  const items = new StreamedItems(count, tell);
  for await (const each of events) {
    if (each === doneEvent) return finished(items.all());
    const data = eventOf(each);
    if (data.type === 'error') throw new AnswerIsError(each);
    if (ends.includes(data.type) && data.response != null) return withItems(data.response, items.all());
    if (data.type === 'response.output_text.delta' && data.delta) {
      tell.text(count.counted(data.delta));
      items.addText(data.delta);
    } else items.add(data);
  }
  throw new Interrupted();
}

/** @throws ModelFailed when the event is malformed */
function eventOf(received: unknown): z.output<typeof event> {
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

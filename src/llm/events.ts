import { createParser } from 'eventsource-parser';
import { costProblem } from '../domain/json/json-cost.ts';
import { AnswerRefused } from '../errors.ts';
import { isFields } from './merge.ts';
import { AnswerIsError } from './refusals/refusal.ts';

/** Stands for the event `[DONE]`, with which most servers say that an answer is complete. */
export const doneEvent = Symbol('[DONE]');

/** The most values in the JSON of one event. */
const maxValues = 10_000;

/**
 * Yields the JSON of each event in a stream, and `doneEvent`. An event without a `type` of its own gets the name of the
 * event, where some servers put it. Comments and empty events, which keep a connection open, are left out.
 * @throws AnswerIsError when the server reports an error; SyntaxError for an event that is not JSON; AnswerRefused for one
 * with too many values
 */
export async function* eventsIn(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const events: { event?: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    parser.feed(decoder.decode(piece, { stream: true }));
    for (const each of events.splice(0)) yield* valuesOf(each);
  }
  // The last event may lack the empty line that ends it.
  parser.feed(`${decoder.decode()}\n\n`);
  for (const each of events) yield* valuesOf(each);
}

function* valuesOf({ event, data }: { event?: string | undefined; data: string }): Generator<unknown> {
  const text = data.trim();
  if (text === '') return;
  if (text === '[DONE]') return void (yield doneEvent);
  const problem = costProblem(text, maxValues);
  if (problem !== undefined) throw new AnswerRefused(problem);
  const value: unknown = JSON.parse(text);
  if (!isFields(value)) return void (yield value);
  if (event === 'error') throw new AnswerIsError(value.error ?? value);
  if (value.error) throw new AnswerIsError(value.error);
  yield event === undefined ? value : { type: event, ...value };
}

/** Yields events until they end. When the stream breaks after the answer was complete, ends as well. */
export async function* untilBroken(events: AsyncIterable<unknown>, isComplete: () => boolean): AsyncGenerator<unknown> {
  try {
    yield* events;
  } catch (error) {
    if (!isComplete()) throw error;
  }
}

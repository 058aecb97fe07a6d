import { z } from 'zod';
import { JsonCost } from './json-cost.ts';

/**
 * Parses the JSON of somebody who may be hostile. Zod spends 10 to 25 µs on each value that does not fit its schema, so
 * 4 MB of numbers where texts should be block the event loop for a minute; the size of a text is not enough of a limit.
 * @throws SyntaxError for what is not JSON, has more than `maxValues` values or is nested too deeply
 */
export function parseWithin(text: string, maxValues: number): unknown {
  const problem = new JsonCost(maxValues).add(new TextEncoder().encode(text));
  if (problem !== undefined) throw new SyntaxError(`it ${problem}`);
  return JSON.parse(text);
}

/**
 * Returns the schema of a list of at most `max` items. Unlike `z.array(item).max(max)`, which checks all items before it
 * counts them, it does not look at the items of a longer list.
 */
export function shortList<T extends z.ZodType>(item: T, max: number) {
  return z.array(z.unknown()).max(max).pipe(z.array(item));
}

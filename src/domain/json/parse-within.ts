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

import { JsonCost } from './json-cost.ts';

/**
 * Returns the predicate of a sentence, such as `holds more than 100 values`, when parsing a text would cost too much;
 * otherwise undefined.
 */
export function costProblem(text: string, maxValues: number): string | undefined {
  return new JsonCost(maxValues).add(new TextEncoder().encode(text));
}

/**
 * Parses the JSON of somebody who may be hostile. Zod spends 10 to 25 µs on each value that does not fit its schema, so
 * 4 MB of numbers where texts should be block the event loop for a minute; the size of a text is not enough of a limit.
 * @throws SyntaxError for what is not JSON, has more than `maxValues` values or is nested too deeply
 */
export function parseWithin(text: string, maxValues: number): unknown {
  const problem = costProblem(text, maxValues);
  if (problem !== undefined) throw new SyntaxError(`it ${problem}`);
  return JSON.parse(text);
}

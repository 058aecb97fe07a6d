const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** How much each byte outside of strings adds to the number of values and to the nesting depth. */
const valuesOf = new Uint8Array(256);
for (const byte of [comma, colon, openList, openObject]) valuesOf[byte] = 1;
const depthOf = new Int8Array(256);
for (const byte of [openList, openObject]) depthOf[byte] = 1;
for (const byte of [closeList, closeObject]) depthOf[byte] = -1;

/** No known API nests its JSON this deep. */
const maxDepth = 100;

/**
 * Estimates how many values a JSON parser would create, by counting the characters that open or separate values outside
 * of strings. The size alone says little: 2 MB of `[],` take 180 ms to parse, 2 MB of one string 3 ms.
 */
export class JsonCost {
  readonly #maxValues: number;
  #isString = false;
  #isEscaped = false;
  #values = 0;
  #depth = 0;
  #isTooDeep = false;

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  /**
   * Counts the values in the next piece. Returns the predicate of a sentence, such as `holds more than 100 values`, when
   * there are more than `maxValues` or they are nested too deeply.
   */
  add(piece: Uint8Array): string | undefined {
    for (let at = 0; at < piece.length; at++)
      if (this.#isString) at = this.#skipString(piece, at);
      else this.#count(piece[at] ?? 0);
    if (this.#isTooDeep) return `is nested more than ${maxDepth} deep`;
    return this.#values > this.#maxValues ? `holds more than ${this.#maxValues} values` : undefined;
  }

  /** Returns the position at which the string ends, or the last position of the piece. */
  #skipString(piece: Uint8Array, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const byte = piece[at];
      if (byte === quote && !this.#isEscaped) {
        this.#isString = false;
        return at;
      }
      this.#isEscaped = byte === backslash && !this.#isEscaped;
    }
    return piece.length - 1;
  }

  #count(byte: number): void {
    this.#isString = byte === quote;
    this.#values += valuesOf[byte] ?? 0;
    this.#depth += depthOf[byte] ?? 0;
    this.#isTooDeep ||= this.#depth > maxDepth;
  }
}

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

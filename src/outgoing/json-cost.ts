import { AnswerRefused } from '../errors.ts';

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
/** No real API nests its answers this deep. */
const maxDepth = 100;

/**
 * Estimates how many values a JSON parser would create, by counting the characters that open or separate values outside of
 * strings. The size alone says little: 2 MB of `[],` take 180 ms to parse, 2 MB of one string 3 ms.
 */
export function jsonCost(maxValues: number) {
  let [isString, isEscaped] = [false, false];
  let [values, depth] = [0, 0];
  return {
    /** @throws AnswerRefused when there are more than `maxValues`, or they are nested too deeply */
    add: (piece: Uint8Array): void => {
      for (const byte of piece) {
        if (isString) {
          if (isEscaped) isEscaped = false;
          else if (byte === backslash) isEscaped = true;
          else if (byte === quote) isString = false;
        } else if (byte === quote) isString = true;
        else if (byte === comma || byte === colon) values += 1;
        else if (byte === openList || byte === openObject) {
          values += 1;
          depth += 1;
          if (depth > maxDepth) throw new AnswerRefused(`is nested more than ${maxDepth} deep`);
        } else if (byte === closeList || byte === closeObject) depth -= 1;
      }
      if (values > maxValues) throw new AnswerRefused(`holds more than ${maxValues} values`);
    },
    /** Starts over for the next text. */
    reset: (): void => {
      [isString, isEscaped, values, depth] = [false, false, 0, 0];
    },
  };
}

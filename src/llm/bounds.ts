import { ModelFailed, type ServerItems, type Wire } from './model.ts';

/** Maximum number of tool calls, and of other items, in one answer. A run executes the first 100 calls. */
export const maxCalls = 1000;

/** Characters of text, arguments and reasoning in one answer; the limit is the same for an answer that is not streamed. */
const maxChars = 4_000_000;

/**
 * Characters of what is stored with a turn and sent back. Reasoning of 200,000 tokens has about 800,000. Beyond that
 * the turn is sent back without it: a part of it would be refused.
 */
const maxKeptChars = 1_000_000;

/** Counts the characters of a streamed answer. */
export class CharCount {
  #chars = 0;

  /** Returns the text. @throws ModelFailed when the answer becomes too large */
  counted(text: string | null | undefined): string {
    this.#chars += text?.length ?? 0;
    if (this.#chars > maxChars) throw badAnswer(`is larger than ${maxChars / 1_000_000} MB`);
    return text ?? '';
  }
}

export function badAnswer(what: string): ModelFailed {
  return new ModelFailed('model', `the model server's answer ${what}`);
}

export function tooManyCalls(): ModelFailed {
  return badAnswer(`has more than ${maxCalls} calls`);
}

/** Returns what to store with a turn, unless it is too large. */
export function keptWithin(wire: Wire, items: object): { kept?: ServerItems } {
  return JSON.stringify(items).length > maxKeptChars ? {} : { kept: { wire, items } };
}

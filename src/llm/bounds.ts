import { type ModelAnswer, ModelFailed, type ServerItems, type Wire } from './model.ts';

/** Maximum number of tool calls, and of other items, in one answer. A run executes the first 100 calls. */
export const maxCalls = 1000;

/** Characters of text, arguments and reasoning that are received of one answer; the limit is the same for an answer that is not streamed. */
const maxChars = 4_000_000;

/**
 * Characters of text and calls in one answer. They are stored with the turn, sent back in each request, and shown to people.
 * The 200,000 tokens that an agent may be allowed have about 800,000, reasoning included.
 */
const maxAnswerChars = 1_000_000;

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

/** Returns an answer whose text and calls can be stored. @throws ModelFailed when they are too long */
export function answerWithin(answer: ModelAnswer): ModelAnswer {
  const inCalls = answer.toolCalls.map(({ id, name, arguments: args }) => id.length + name.length + args.length);
  const chars = inCalls.reduce((sum, each) => sum + each, answer.text.length);
  if (chars > maxAnswerChars)
    throw badAnswer(`has ${chars} characters of text and calls; the most are ${maxAnswerChars}`);
  return answer;
}

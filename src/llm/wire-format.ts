import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import type { Message, ModelAnswer, ReplyOptions, ToolSpec } from './model.ts';

/** What is asked of a model, independent of the API. */
export interface Asked extends ReplyOptions {
  messages: Message[];
  tools: ToolSpec[];
}

/** Receives the pieces of a streamed answer. */
export interface Tell {
  text(piece: string): void;
  /** A piece of the arguments of a call. */
  call(name: string, piece: string): void;
}

/** Whether an answer has to be streamed, because somebody reads it as it arrives. */
export function isStreamed({ onText, onCall }: ReplyOptions): boolean {
  return onText !== undefined || onCall !== undefined;
}

/** How one API is spoken: its path, its requests and its answers. */
export interface WireFormat {
  path: string;
  /** What people call it. */
  title: string;
  /** Builds a request. Fields that the server has refused before are left out by the caller. */
  request(model: string, asked: Asked): ChatCompletionCreateParams | ResponseCreateParams;
  /** Reads an answer that came as a whole. @throws ModelFailed or Interrupted */
  replyOf(model: string, answer: unknown): ModelAnswer;
  /**
   * Assembles a streamed answer for `replyOf` and passes its text and its calls on as they arrive.
   * @throws ModelFailed when the stream is malformed; Interrupted when it ends early
   */
  gather(events: AsyncIterable<unknown>, tell: Tell): Promise<unknown>;
}

/** The answer ended early, so the same request may succeed later. */
export class Interrupted extends Error {
  constructor(why = 'the stream ended before the answer was complete') {
    super(why);
    this.name = 'Interrupted';
  }
}

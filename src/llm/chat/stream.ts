import { z } from 'zod';
import { badAnswer, CharCount, maxCalls } from '../bounds.ts';
import { doneEvent, untilBroken } from '../events.ts';
import { mergeFields } from '../merge.ts';
import { AnswerIsError } from '../refusals/refusal.ts';
import { hasTokens } from '../usage.ts';
import { Interrupted, type Tell } from '../wire-format.ts';
import { unknownFields } from './answer.ts';
import { called, callPart, StreamedCalls } from './calls.ts';

/** The fields of a chunk that the service reads. */
const chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .looseObject({
            content: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
            refusal: z.string().nullish().catch(null),
            tool_calls: z.array(callPart).nullish(),
            function_call: called.nullish().catch(null),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
        error: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
});

type Delta = NonNullable<NonNullable<z.output<typeof chunk>['choices']>[number]['delta']>;

/**
 * Assembles a streamed Chat Completion and passes its text and its calls on as they arrive. The client library has a
 * helper for this, but the helper loops up to whatever index a server sends.
 * @throws ModelFailed when the stream is malformed; Interrupted when it ends early
 */
export async function gatherChat(events: AsyncIterable<unknown>, tell: Tell): Promise<unknown> {
  const answer = new StreamedAnswer(tell);
  // What follows the last piece is only the usage. Losing it costs less than paying for the answer twice.
  for await (const each of untilBroken(events, () => answer.isFinished())) {
    if (each === doneEvent) {
      answer.end();
      break;
    }
    const text = answer.add(each);
    if (text !== '') tell.text(text);
  }
  return answer.completion();
}

/** A Chat Completion that is assembled chunk by chunk. */
class StreamedAnswer {
  readonly #count = new CharCount();
  readonly #calls: StreamedCalls;
  /** The call in the field `function_call`, which counts if there is no other. */
  readonly #legacy: StreamedCalls;
  readonly #extra: Record<string, unknown> = {};
  /** The parts of the content, if it comes in parts. */
  readonly #parts: Record<string, unknown>[] = [];
  #content = '';
  #refusal = '';
  #finishReason = '';
  #isDone = false;
  #usage: unknown;

  constructor(tell: Tell) {
    this.#calls = new StreamedCalls(this.#count, tell);
    this.#legacy = new StreamedCalls(this.#count, tell);
  }

  /** Adds a chunk and returns the text in it. @throws ModelFailed or AnswerIsError */
  add(received: unknown): string {
    const { data } = chunk.safeParse(received);
    if (data === undefined)
      throw badAnswer("has a malformed chunk; check OPENAI_API, or look at the model server's log");
    // Some servers count in every chunk, and others send zeros until the last one or in it.
    if (hasTokens(data.usage)) this.#usage = data.usage;
    const [choice] = data.choices ?? [];
    if (choice?.error != null) throw new AnswerIsError(choice.error);
    this.#finishReason ||= choice?.finish_reason ?? '';
    return choice?.delta == null ? '' : this.#addDelta(choice.delta);
  }

  /** Notes the event `[DONE]`. */
  end(): void {
    this.#isDone = true;
  }

  isFinished(): boolean {
    return this.#finishReason !== '';
  }

  /** Returns the completion. @throws Interrupted when the stream ended before the answer was complete */
  completion(): unknown {
    const tool_calls = this.#calls.all();
    const [legacy] = this.#legacy.all();
    const content = this.#parts.length > 0 ? this.#parts : this.#content;
    const hasAnswer = content.length > 0 || tool_calls.length > 0 || legacy !== undefined;
    // Some servers never say why they finished, but every complete stream has a reason or ends in `[DONE]`.
    if (!this.isFinished() && !(this.#isDone && hasAnswer)) throw new Interrupted();
    const message = {
      ...this.#extra,
      content,
      refusal: this.#refusal,
      tool_calls,
      function_call: legacy?.function,
    };
    return { choices: [{ message, finish_reason: this.#finishReason || null }], usage: this.#usage };
  }

  #addDelta(delta: Delta): string {
    mergeFields(this.#extra, unknownFields(delta), this.#count);
    this.#refusal += this.#count.counted(delta.refusal);
    for (const part of delta.tool_calls ?? []) this.#calls.add(part);
    if (delta.function_call != null)
      this.#legacy.add({ index: 0, id: null, type: null, function: delta.function_call });
    if (!Array.isArray(delta.content)) return this.#addText(this.#count.counted(delta.content));
    if (this.#parts.length === 0 && this.#content !== '') this.#addPart({ type: 'text', text: this.#content });
    return delta.content.map((part) => this.#addPart(part)).join('');
  }

  #addText(text: string): string {
    if (this.#parts.length > 0 && text !== '') this.#addPart({ type: 'text', text });
    this.#content += text;
    return text;
  }

  /** Adds a part of the content and returns its text. Texts that follow each other become one part. */
  #addPart(part: Record<string, unknown>): string {
    const last = this.#parts.at(-1);
    const text = part.type === 'text' && typeof part.text === 'string' ? part.text : '';
    // Some servers would refuse an empty part when it is sent back.
    if (part.type === 'text' && text === '') return '';
    if (last?.type === 'text' && part.type === 'text') last.text = `${last.text}${this.#count.counted(text)}`;
    else if (this.#parts.length >= maxCalls) throw badAnswer(`has more than ${maxCalls} parts`);
    else {
      this.#count.counted(JSON.stringify(part));
      this.#parts.push(part);
    }
    return text;
  }
}

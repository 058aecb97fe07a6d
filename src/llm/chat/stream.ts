import { z } from 'zod';
import { badAnswer, CharCount, maxCalls, tooManyCalls } from '../bounds.ts';
import { mergeFields } from '../merge.ts';
import { AnswerIsError } from '../refusal.ts';
import { Interrupted } from '../wire-format.ts';
import { unknownCallFields, unknownFields } from './kept.ts';

const callPart = z.looseObject({
  index: z.int().min(0).optional(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

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

interface Call {
  id: string;
  name: string;
  arguments: string;
  extra: Record<string, unknown>;
}

/**
 * Assembles a streamed Chat Completion and passes its text to `onText` as it arrives. The client library has a helper
 * for this, but the helper loops up to whatever index a server sends.
 * @throws ModelFailed when the stream is malformed; Interrupted when it ends early
 */
export async function gatherChat(chunks: AsyncIterable<unknown>, onText: (text: string) => void): Promise<unknown> {
  const answer = new StreamedAnswer();
  for await (const each of chunks) {
    const text = answer.add(each);
    if (text !== '') onText(text);
  }
  return answer.completion();
}

/** A Chat Completion that is assembled chunk by chunk. */
class StreamedAnswer {
  readonly #count = new CharCount();
  /** The calls by their index. A call that begins at the index of another one replaces it here, but not in `#calls`. */
  readonly #open = new Map<number, Call>();
  readonly #calls: Call[] = [];
  readonly #extra: Record<string, unknown> = {};
  /** The parts of the content, if it comes in parts. */
  readonly #parts: Record<string, unknown>[] = [];
  #content = '';
  #refusal = '';
  #finishReason: string | null | undefined;
  #usage: unknown;

  /** Adds a chunk and returns the text in it. @throws ModelFailed or AnswerIsError */
  add(received: unknown): string {
    const { data } = chunk.safeParse(received);
    if (data === undefined)
      throw badAnswer("has a malformed chunk; check OPENAI_API, or look at the model server's log");
    this.#usage = data.usage ?? this.#usage;
    const [choice] = data.choices ?? [];
    if (choice?.error != null) throw new AnswerIsError(choice.error);
    this.#finishReason ??= choice?.finish_reason;
    return choice?.delta == null ? '' : this.#addDelta(choice.delta);
  }

  /** Returns the completion. @throws Interrupted when the stream ended before the answer was complete */
  completion(): unknown {
    if (this.#finishReason == null) throw new Interrupted();
    const tool_calls = this.#calls.map(({ id, name, arguments: args, extra }) => ({
      ...extra,
      id,
      function: { name, arguments: args },
    }));
    const content = this.#parts.length > 0 ? this.#parts : this.#content;
    const message = { ...this.#extra, content, refusal: this.#refusal, tool_calls };
    return { choices: [{ message, finish_reason: this.#finishReason }], usage: this.#usage };
  }

  #addDelta(delta: Delta): string {
    mergeFields(this.#extra, unknownFields(delta), this.#count);
    this.#refusal += this.#count.counted(delta.refusal);
    for (const part of delta.tool_calls ?? []) this.#addCall(part);
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
    if (last?.type === 'text' && part.type === 'text') last.text = `${last.text}${this.#count.counted(text)}`;
    else if (this.#parts.length >= maxCalls) throw badAnswer(`has more than ${maxCalls} parts`);
    else {
      this.#count.counted(JSON.stringify(part));
      this.#parts.push(part);
    }
    return text;
  }

  #addCall(part: z.output<typeof callPart>): void {
    const index = part.index ?? Math.max(0, this.#calls.length - (part.id ? 0 : 1));
    if (index >= maxCalls) throw tooManyCalls();
    const call = this.#callAt(index, part.id ?? '');
    // Some servers repeat the id and the name in every chunk.
    call.id = this.#count.counted(part.id) || call.id;
    call.name = this.#count.counted(part.function?.name) || call.name;
    call.arguments += this.#count.counted(part.function?.arguments);
    mergeFields(call.extra, unknownCallFields(part), this.#count);
  }

  /** Returns the call that a chunk continues. Gemini sends each call whole, with a new id and always with index 0. */
  #callAt(index: number, id: string): Call {
    const open = this.#open.get(index);
    if (open !== undefined && (id === '' || open.id === '' || open.id === id)) return open;
    if (this.#calls.length >= maxCalls) throw tooManyCalls();
    const call = { id: '', name: '', arguments: '', extra: {} };
    this.#open.set(index, call);
    this.#calls.push(call);
    return call;
  }
}

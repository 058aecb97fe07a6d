import { z } from 'zod';
import { maxCalls, tooManyCalls, usage } from './completion.ts';
import { ModelFailed } from './model.ts';

const callPart = z.object({
  index: z.int().min(0),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

/** The fields of a chunk that the service reads. */
const chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), tool_calls: z.array(callPart).nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage,
});

/** Characters of text and arguments in one answer; the limit is the same for an answer that is not streamed. */
const maxChars = 4_000_000;

/**
 * Assembles a streamed Chat Completion and passes its text to `onText` as it arrives. The client library has a helper
 * for this, but the helper loops up to whatever index a server sends.
 * @throws ModelFailed when the stream is malformed; Error when it ends early
 */
export async function gather(chunks: AsyncIterable<unknown>, onText: (text: string) => void): Promise<unknown> {
  const answer = new StreamedAnswer();
  for await (const each of chunks) {
    const text = answer.add(each);
    if (text !== '') onText(text);
  }
  return answer.completion();
}

/** A Chat Completion that is assembled chunk by chunk. */
class StreamedAnswer {
  readonly #calls = new Map<number, { id: string; function: { name: string; arguments: string } }>();
  #content = '';
  #chars = 0;
  #finishReason: string | null | undefined;
  #usage: z.output<typeof usage> = null;

  /** Adds a chunk and returns the text in it. @throws ModelFailed */
  add(received: unknown): string {
    const { data } = chunk.safeParse(received);
    if (data === undefined) throw wrong('has a malformed chunk');
    this.#usage = data.usage ?? this.#usage;
    const [choice] = data.choices ?? [];
    this.#finishReason ??= choice?.finish_reason;
    for (const part of choice?.delta?.tool_calls ?? []) this.#addCall(part);
    const text = this.#counted(choice?.delta?.content);
    this.#content += text;
    return text;
  }

  /** Returns the completion. @throws Error when the stream ended before the answer was complete */
  completion(): unknown {
    if (this.#finishReason == null) throw new Error('the stream ended before the answer was complete');
    const message = { content: this.#content, tool_calls: [...this.#calls.values()] };
    return { choices: [{ message, finish_reason: this.#finishReason }], usage: this.#usage };
  }

  #addCall({ index, id, function: part }: z.output<typeof callPart>): void {
    if (index >= maxCalls) throw tooManyCalls();
    const call = this.#calls.get(index) ?? { id: '', function: { name: '', arguments: '' } };
    this.#calls.set(index, call);
    // Some servers repeat the id and the name in every chunk.
    call.id = this.#counted(id) || call.id;
    call.function.name = this.#counted(part?.name) || call.function.name;
    call.function.arguments += this.#counted(part?.arguments);
  }

  #counted(text: string | null | undefined): string {
    this.#chars += text?.length ?? 0;
    if (this.#chars > maxChars) throw wrong(`is larger than ${maxChars / 1_000_000} MB`);
    return text ?? '';
  }
}

function wrong(what: string): ModelFailed {
  return new ModelFailed('model', `the model server's answer ${what}`);
}

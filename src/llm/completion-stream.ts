import { z } from 'zod';
import { maxCalls, tooManyCalls, usage } from './completion.ts';
import { ModelFailed } from './model.ts';

const call = z.object({
  index: z.int().min(0),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

/** The fields we read of one chunk. */
const piece = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), tool_calls: z.array(call).nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage,
});

/** Text and arguments of one answer together; the same limit as for an answer that is not streamed. */
const maxChars = 4_000_000;

/**
 * Assembles a streamed Chat Completion. The client library has a helper for this, but it loops up to whatever index a
 * server sends.
 * @throws ModelFailed when the stream is malformed; Error when it ends early
 */
export async function gather(pieces: AsyncIterable<unknown>, onText: (text: string) => void): Promise<unknown> {
  const calls = new Map<number, { id: string; function: { name: string; arguments: string } }>();
  let [content, chars] = ['', 0];
  let finish_reason: string | null | undefined;
  let used: z.output<typeof usage> = null;
  const counted = (text: string | null | undefined) => {
    chars += text?.length ?? 0;
    if (chars > maxChars) throw wrong(`is larger than ${maxChars / 1_000_000} MB`);
    return text ?? '';
  };
  for await (const each of pieces) {
    const { data } = piece.safeParse(each);
    if (data === undefined) throw wrong('has a malformed chunk');
    used = data.usage ?? used;
    const [choice] = data.choices ?? [];
    finish_reason ??= choice?.finish_reason;
    const text = counted(choice?.delta?.content);
    content += text;
    if (text !== '') onText(text);
    for (const { index, id, function: part } of choice?.delta?.tool_calls ?? []) {
      if (index >= maxCalls) throw tooManyCalls();
      const begun = calls.get(index) ?? { id: '', function: { name: '', arguments: '' } };
      calls.set(index, begun);
      // Some servers repeat id and name in every chunk.
      begun.id = counted(id) || begun.id;
      begun.function.name = counted(part?.name) || begun.function.name;
      begun.function.arguments += counted(part?.arguments);
    }
  }
  if (finish_reason == null) throw new Error('the stream broke off');
  return { choices: [{ message: { content, tool_calls: [...calls.values()] }, finish_reason }], usage: used };
}

function wrong(what: string): ModelFailed {
  return new ModelFailed('model', `the model server's answer ${what}`);
}

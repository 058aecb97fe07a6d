import { z } from 'zod';
import { maxCalls, tooManyCalls, usage } from './completion.ts';
import { ModelFailed } from './model.ts';

const call = z.object({
  index: z.int().min(0),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

/** What we read of one piece of an answer. */
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

/** Text and arguments of one answer together: what an answer in one piece may have, too. */
const maxChars = 4_000_000;

/**
 * Puts a streamed Chat Completion together. The client library's own helper counts up to whatever index a server names.
 * @throws ModelFailed for what is no such stream; Error when it broke off
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
    if (data === undefined) throw wrong('has a piece that is not as it should be');
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
      // Some servers repeat id and name with every piece.
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

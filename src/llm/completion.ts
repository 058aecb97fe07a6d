import { z } from 'zod';
import { ModelFailed, type Reply } from './model.ts';

/** Maximum number of tool calls in one answer. A run executes the first 100 of them. */
export const maxCalls = 1000;

/** A whole number of tokens. Compatible servers also report fractions, negative numbers and strings. */
const tokens = z
  .number()
  .transform((n) => Math.min(Math.max(Math.round(n), 0), 1e7))
  .catch(0);

export const usage = z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish().catch(null);

/** The fields that the service reads. Text may come in parts, and arguments either as a string or as plain JSON. */
const answer = z.object({
  choices: z.tuple(
    [
      z.object({
        message: z.object({
          content: z
            .union([z.string(), z.array(z.object({ text: z.string().catch('') })).transform(joined)])
            .nullish()
            .transform((text) => text ?? ''),
          tool_calls: z
            .array(
              z.object({
                id: z.string().catch(''),
                type: z.string().catch('function'),
                function: z.object({
                  name: z.string(),
                  // Some compatible servers omit the arguments when there are none.
                  arguments: z
                    .union([z.string(), z.looseObject({}).transform((given) => JSON.stringify(given))])
                    .nullish()
                    .transform((given) => given ?? '{}'),
                }),
              }),
            )
            .nullish()
            .transform((calls) => calls ?? []),
        }),
        finish_reason: z.string().nullish(),
      }),
    ],
    z.unknown(),
  ),
  usage,
});

function joined(parts: { text: string }[]): string {
  return parts.map((part) => part.text).join('');
}

/**
 * Reads a Chat Completion.
 * @throws ModelFailed for other data, which compatible servers and proxies sometimes send
 */
export function replyOf(completion: unknown): Reply {
  const { data, error } = answer.safeParse(completion);
  if (data === undefined) {
    const where = error.issues[0]?.path.join('.') || 'the answer itself';
    throw new ModelFailed(
      'model',
      `the model server's answer is not a Chat Completion: ${where} is missing or malformed`,
    );
  }
  const [{ message, finish_reason }] = data.choices;
  if (message.tool_calls.length > maxCalls) throw tooManyCalls();
  const calls = message.tool_calls.filter((call) => call.type === 'function');
  return {
    text: message.content,
    toolCalls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args })),
    inputTokens: data.usage?.prompt_tokens ?? 0,
    cachedInputTokens: 0,
    outputTokens: data.usage?.completion_tokens ?? 0,
    isCut: finish_reason === 'length',
  };
}

export function tooManyCalls(): ModelFailed {
  return new ModelFailed('model', `the model server's answer has more than ${maxCalls} calls`);
}

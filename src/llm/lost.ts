import type { Model, Tokens } from './model.ts';

/** About as many characters are a token in English text and in code. */
const charsPerToken = 4;

/** Estimates what a server bills for a request and the characters that it had answered when the answer was lost. */
export function estimateOf(body: Record<string, unknown>, answered: number): Tokens {
  // A picture costs less than its characters.
  const asked = JSON.stringify(body, (_key, value) =>
    typeof value === 'string' && value.startsWith('data:') ? '' : value,
  );
  const [inputTokens, outputTokens] = [asked.length, answered].map((chars) => Math.ceil(chars / charsPerToken));
  return { inputTokens: inputTokens ?? 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: outputTokens ?? 0 };
}

/**
 * Returns a model that calls `pay` for each answer that was begun, but did not arrive whole: because the run was cancelled,
 * the time was up, or the stream broke. Otherwise requests that are always broken off would cost nothing. `pay` must not
 * throw.
 */
export function payingForLost(model: Model, pay: (lost: Tokens) => Promise<void>): Model {
  return {
    ...model,
    reply: async (messages, tools, signal, options) => {
      const lost: Tokens[] = [];
      try {
        return await model.reply(messages, tools, signal, { ...options, onLost: (tokens) => lost.push(tokens) });
      } finally {
        for (const tokens of lost) await pay(tokens);
      }
    },
  };
}

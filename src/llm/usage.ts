import { z } from 'zod';

/**
 * US dollars per million tokens, by model, from the setting MODEL_PRICES. `cachedInput` defaults to `input`, and
 * `cacheWrite` to 1.25 times `input`, which is what the servers that report such tokens charge.
 */
export type PriceTable = Record<
  string,
  { input: number; cachedInput?: number | undefined; cacheWrite?: number | undefined; output: number }
>;

/** The tokens of one answer. The input tokens include those that the server read from its cache. */
export interface TokenUsage {
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}

/** The input tokens also include those that the server wrote to its cache. */
interface BilledUsage extends TokenUsage {
  cacheWriteTokens: number;
}

/** Returns the cost of tokens in US dollars, or null for a model without a configured price. */
export function costOf(prices: PriceTable, model: string, used: BilledUsage): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return null;
  const { input, cachedInput = input, cacheWrite = 1.25 * input, output } = price;
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = used;
  const others = inputTokens - cachedInputTokens - cacheWriteTokens;
  const inputCost = others * input + cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite;
  return (inputCost + outputTokens * output) / 1_000_000;
}

/** A whole number of tokens. Compatible servers also report fractions, negative numbers and strings. */
const tokens = z
  .number()
  .transform((n) => Math.min(Math.max(Math.round(n), 0), 1e7))
  .catch(0);

const details = z.object({ cached_tokens: tokens, cache_write_tokens: tokens }).nullish().catch(null);

/** The usage that a server reports, under the names of both APIs, and those of DeepSeek and LiteLLM for cached tokens. */
export const usage = z
  .object({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    prompt_tokens_details: details,
    prompt_cache_hit_tokens: tokens,
    cache_creation_input_tokens: tokens,
    input_tokens: tokens,
    output_tokens: tokens,
    input_tokens_details: details,
  })
  .nullish()
  .catch(null)
  .transform((given) => {
    const inputTokens = given?.input_tokens || given?.prompt_tokens || 0;
    const fromCache =
      given?.input_tokens_details?.cached_tokens ||
      given?.prompt_tokens_details?.cached_tokens ||
      given?.prompt_cache_hit_tokens ||
      0;
    const cachedInputTokens = Math.min(fromCache, inputTokens);
    const written =
      given?.input_tokens_details?.cache_write_tokens ||
      given?.prompt_tokens_details?.cache_write_tokens ||
      given?.cache_creation_input_tokens ||
      0;
    return {
      inputTokens,
      cachedInputTokens,
      cacheWriteTokens: Math.min(written, inputTokens - cachedInputTokens),
      outputTokens: given?.output_tokens || given?.completion_tokens || 0,
    };
  });

/** Returns whether a report of usage counts any tokens. */
export function hasTokens(reported: unknown): boolean {
  const { inputTokens, outputTokens } = usage.parse(reported);
  return inputTokens + outputTokens > 0;
}

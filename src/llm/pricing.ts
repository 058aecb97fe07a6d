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

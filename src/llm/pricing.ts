/** US dollars per million tokens, by model, from the setting MODEL_PRICES. `cachedInput` defaults to `input`. */
export type PriceTable = Record<string, { input: number; cachedInput?: number | undefined; output: number }>;

/** The tokens of one answer. The input tokens include those that the server read from its cache. */
export interface TokenUsage {
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
}

/** Returns the cost of tokens in US dollars, or null for a model without a configured price. */
export function costOf(prices: PriceTable, model: string, used: TokenUsage): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return null;
  const { input, cachedInput = input, output } = price;
  const uncached = used.inputTokens - used.cachedInputTokens;
  return (uncached * input + used.cachedInputTokens * cachedInput + used.outputTokens * output) / 1_000_000;
}

/** US dollars per million tokens, by model, from the setting MODEL_PRICES. */
export type PriceTable = Record<string, { input: number; output: number }>;

/** Returns the cost of tokens in US dollars, or null for a model without a configured price. */
export function costOf(prices: PriceTable, model: string, inputTokens: number, outputTokens: number): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return null;
  return (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
}

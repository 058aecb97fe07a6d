/** US dollars per million tokens, by model; the setting MODEL_PRICES. */
export type PriceTable = Record<string, { input: number; output: number }>;

/** The cost of tokens in US dollars; null for a model without a price. */
export function costOf(prices: PriceTable, model: string, inputTokens: number, outputTokens: number): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return null;
  return (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
}

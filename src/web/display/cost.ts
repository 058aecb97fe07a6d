/** Formats a cost in US dollars; null means that the price of the model is not configured. */
export function formatCost(cost: number | null): string {
  if (cost === null) return 'cost unknown';
  return cost > 0 && cost < 0.01 ? 'under $0.01' : `$${cost.toFixed(2)}`;
}

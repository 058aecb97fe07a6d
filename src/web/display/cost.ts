/** Formats a cost in US dollars; null means that the price of the model is not configured. */
export function formatCost(cost: number | null): string {
  if (cost === null) return 'cost unknown';
  return cost > 0 && cost < 0.01 ? 'under $0.01' : `$${cost.toFixed(2)}`;
}

/** Formats what a run has cost so far. The cost of a run without steps is not unknown. */
export function costOf({ steps, costUsd }: { steps: number; costUsd: number | null }): string {
  return costUsd === null && steps === 0 ? 'no cost yet' : formatCost(costUsd);
}

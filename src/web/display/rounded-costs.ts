import type { Spend } from '../api.ts';
import { formatCost } from './formats.ts';

/**
 * Returns the costs of parts rounded to cents so that they add up to the rounded total: those that lose most by rounding down are
 * rounded up. Parts that do not add up to the total are rounded each for itself.
 */
export function roundedTogether(parts: number[], total: number): number[] {
  // Sums of floating-point numbers are off by a little.
  const cents = parts.map((part) => part * 100 + 1e-6);
  const rounded = cents.map(Math.floor);
  const missing = Math.round(total * 100) - rounded.reduce((sum, each) => sum + each, 0);
  if (missing < 0 || missing > parts.length) return parts;
  const byLoss = [...cents.keys()].sort((a, b) => lossOf(cents[b] ?? 0) - lossOf(cents[a] ?? 0));
  for (const at of byLoss.slice(0, missing)) rounded[at] = (rounded[at] ?? 0) + 1;
  // What costs less than a cent is still not free.
  return rounded.map((each, at) => (each === 0 ? Math.min(parts[at] ?? 0, 0.009) : each / 100));
}

const lossOf = (cents: number) => cents - Math.floor(cents);

/** Formats the cost of an agent as the page of spend does. An agent that is not in the list has used nothing. */
export function agentCost({ agents, total }: Spend, agentId: string): string {
  const costs = roundedTogether(
    agents.map(({ costUsd }) => costUsd),
    total.costUsd,
  );
  return formatCost(costs[agents.findIndex((each) => each.agentId === agentId)] ?? 0);
}

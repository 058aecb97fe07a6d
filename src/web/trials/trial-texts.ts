import type { AgentTrial, PortfolioEntry, TrialEstimate } from '../api.ts';
import { formatCost, plural } from '../display/formats.ts';

type Against = Pick<NonNullable<AgentTrial['against']>, 'verdict' | 'difference' | 'pairs' | 'pValue'>;
type Counted = Pick<AgentTrial, 'solved' | 'of' | 'interval'>;

const percent = (share: number) => `${Math.round(share * 100)}%`;

/** Says how much was solved: `12 of 20 (60%, 36 to 81%)`. */
export function solvedText({ solved, of, interval }: Counted): string {
  if (of === 0 || interval === null) return 'no result yet';
  const [low = 0, high = 1] = interval;
  return `${solved} of ${of} (${percent(solved / of)}, ${Math.round(low * 100)} to ${percent(high)})`;
}

/** Says what a comparison shows about the agent that was tried. */
export function verdictText({ verdict, difference, pairs, pValue }: Against): string {
  const by = `${percent(Math.abs(difference))} of ${plural(pairs, 'item')} ${difference < 0 ? 'fewer' : 'more'} (p = ${pValue < 0.001 ? 'under 0.001' : pValue.toFixed(3)})`;
  switch (verdict) {
    case 'better':
      return `Clearly better: it solves ${by}.`;
    case 'worse':
      return `Clearly worse: it solves ${by}.`;
    case 'same':
      return difference === 0 ? 'No difference.' : `No clear difference: it solves ${by}.`;
    default:
      return pairs === 0 ? 'Not compared yet.' : `Not clear yet: it solves ${by}.`;
  }
}

/**
 * Compares an agent with the best one of a repository. A few items show only large differences, so that no difference is seen says
 * little.
 */
export const comparisons: Record<PortfolioEntry['comparedWithBest'], string> = {
  best: 'Best',
  worse: 'Clearly worse than the best',
  'not worse': 'Not clearly worse than the best',
  unknown: 'Too few items to compare',
};

/** Says what a trial will probably cost, as `$4.00 to $7.00`; undefined if nothing is known. */
export function estimateText({ costUsd }: TrialEstimate): string | undefined {
  if (costUsd === null) return undefined;
  const [low, high] = [formatCost(costUsd.low), formatCost(costUsd.high)];
  return low === high ? low : `${low} to ${high}`;
}

/** Proposes a budget: somewhat more than a trial will probably cost, in whole dollars. */
export function proposedBudget(estimate: TrialEstimate | undefined): string {
  const high = estimate?.costUsd?.high ?? 5;
  return String(Math.max(1, Math.ceil(high * 1.2)));
}

/** Returns the amount that a text stands for, or undefined. */
export function amountOf(text: string): number | undefined {
  const amount = /^\d{1,5}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : 0;
  return amount > 0 && amount <= 10_000 ? amount : undefined;
}

/** Returns the number of items that a text stands for, or undefined. */
export function countOf(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100 ? Number(text) : undefined;
}

export const statusNames: Record<AgentTrial['status'], string> = {
  running: 'Running',
  done: 'Done',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

/** The width of a letter of the labels of the chart, in pixels, at most. */
const letterWidth = 7;

/** Names an agent and its model in at most this width. */
export function labelOf({ name, model }: Pick<PortfolioEntry, 'name' | 'model'>, space: number): string {
  const label = `${name.slice(0, 30)} · ${model.slice(0, 30)}`;
  const most = Math.max(4, Math.floor(space / letterWidth));
  return label.length <= most ? label : `${label.slice(0, most - 1).trimEnd()}…`;
}

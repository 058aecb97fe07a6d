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

/**
 * With fewer items, no result can be clear: one of two equals wins all of four in 6 of 100 trials, and of five in 3, while a
 * verdict errs in at most 5.
 */
export const leastItems = 5;

/** Says what a comparison shows about the agent that was tried, called `subject` at the beginning of a sentence. */
export function verdictText({ verdict, difference, pairs, pValue }: Against, subject = 'It'): string {
  const chance = `p = ${pValue < 0.001 ? 'under 0.001' : pValue.toFixed(3)}`;
  const by = `${percent(Math.abs(difference))} of ${plural(pairs, 'item')} ${difference < 0 ? 'fewer' : 'more'}, ${chance}`;
  const seen = difference === 0 ? 'both solved equally many' : `${subject} solved ${by}`;
  if (pairs === 0) return 'Not compared yet.';
  switch (verdict) {
    case 'better':
      return `${subject} is clearly better: solved ${by}.`;
    case 'worse':
      return `${subject} is clearly worse: solved ${by}.`;
    case 'same':
      if (pairs < leastItems) return `Nobody knows which is better: ${plural(pairs, 'item')} cannot show it.`;
      return `No clear difference: ${seen}. ${plural(pairs, 'item')} show only a large one.`;
    default:
      return `Not clear yet: ${seen}.`;
  }
}

type Arm = Pick<AgentTrial, 'name' | 'version' | 'model' | 'promptHash'>;

/** Names what was tried by what sets it apart from what it was compared with. */
export function armName(arm: Arm, other: Arm | undefined): string {
  if (other === undefined || arm.name !== other.name) return `${arm.name} (version ${arm.version})`;
  if (arm.promptHash !== other.promptHash && arm.version === other.version) return `${arm.name}, another prompt`;
  if (arm.version !== other.version) return `${arm.name}, version ${arm.version}`;
  return `${arm.name} with ${arm.model}`;
}

/**
 * Compares an agent with the best one of a repository. A few items show only large differences, so that no difference is seen says
 * little.
 */
const comparisons: Record<PortfolioEntry['comparedWithBest'], string> = {
  best: 'Best',
  worse: 'Clearly worse than the best',
  'not worse': 'Not clearly worse than the best',
  unknown: 'Too few items to compare',
};

/** Says that an amount of items is too small to tell which of two agents is better; undefined if it is not. */
export function tooFewText(items: number): string | undefined {
  if (items >= leastItems) return undefined;
  return `${plural(items, 'item')} cannot show which agent is better. It takes ${leastItems} at least, and 20 to see a large difference.`;
}

/** Says why the figures of a portfolio do not tell yet which of its agents is better; undefined if they do. */
export function doubtText(agents: Pick<PortfolioEntry, 'of' | 'name' | 'comparedWithBest'>[]): string | undefined {
  const unknown = agents.filter(({ comparedWithBest }) => comparedWithBest === 'unknown').length;
  if (unknown === 0) return undefined;
  return `Nobody knows yet whether it is the right choice: ${plural(unknown, 'agent')} tried too few items to compare.`;
}

/** Says what one solved item cost, and how long it took: `$0.40, 3.1 min`. */
export function perSolvedText(cost: number | null, minutes: number | null): string {
  if (minutes === null) return '–';
  return `${cost === null ? 'unknown' : formatCost(cost)}, ${minutes.toFixed(1)} min`;
}

type Item = AgentTrial['items'][number];
type Tried = Pick<AgentTrial, 'solved' | 'costUsd' | 'minutes'> & { items: Pick<Item, 'result' | 'costUsd'>[] };

/** Says what an agent of a trial needed per solved item so far. */
export function perSolvedOf(tried: Tried): string {
  if (tried.solved === 0) return '–';
  return perSolvedText(costPerSolved(tried), tried.minutes / tried.solved);
}

/** Returns what a solved item cost; null if that is unknown. What an item that runs has cost does not count yet. */
function costPerSolved({ solved, costUsd, items }: Omit<Tried, 'minutes'>): number | null {
  if (costUsd === null || solved === 0) return null;
  const running = items.filter(({ result }) => result === null).reduce((sum, item) => sum + (item.costUsd ?? 0), 0);
  return Math.max(0, costUsd - running) / solved;
}

type Progress = Pick<AgentTrial, 'planned' | 'status'> & {
  items: Pick<Item, 'itemId' | 'result'>[];
  against?: { items: Pick<Item, 'itemId' | 'result'>[] };
};

/** Says how many items of a trial are done: `3 of 6 items, 1 running`. With two agents, an item is done when both are. */
export function progressText({ planned, status, items, against }: Progress): string {
  const others = against?.items ?? [];
  const unfinished = new Set([...items, ...others].filter(({ result }) => result === null).map(({ itemId }) => itemId));
  const isDone = ({ itemId }: Pick<Item, 'itemId'>) =>
    !unfinished.has(itemId) && (against === undefined || others.some((other) => other.itemId === itemId));
  const done = status === 'running' ? items.filter(isDone).length : items.length;
  const running = status === 'running' && unfinished.size > 0 ? `, ${unfinished.size} running` : '';
  return `${done} of ${plural(planned, 'item')}${running}`;
}

/**
 * Says how an agent compares with the best of a portfolio. Nobody is called the best while others tried too few items, or solved
 * as many.
 */
export function comparisonText(entry: Compared, agents: Compared[]): string {
  const best = agents.find(({ comparedWithBest }) => comparedWithBest === 'best');
  const isLikeBest = ({ solved, of }: Compared) => solved === best?.solved && of === best.of;
  if (isLikeBest(entry) && agents.filter(isLikeBest).length > 1) return 'Solved the most, as others did';
  if (entry !== best || agents.every(({ comparedWithBest }) => comparedWithBest !== 'unknown'))
    return comparisons[entry.comparedWithBest];
  return 'The best so far, of too few items to be sure';
}

type Compared = Pick<PortfolioEntry, 'comparedWithBest' | 'solved' | 'of'>;

type Side = Arm & Omit<Tried, 'minutes'>;

/** Says which of two to use, and at what price; undefined if the trial does not tell. */
export function adviceText(ours: Side, theirs: Side & Pick<Against, 'verdict'>): string | undefined {
  if (theirs.verdict !== 'better' && theirs.verdict !== 'worse') return undefined;
  const [winner, other] = theirs.verdict === 'better' ? [ours, theirs] : [theirs, ours];
  const cost = costPerSolved(winner);
  return `Use ${armName(winner, other)}${cost === null ? '' : `: ${formatCost(cost)} per solved item`}.`;
}

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

/** The height of a line of the labels of the chart, in pixels. */
const lineHeight = 16;

/** Moves labels apart that would be printed over each other, down where there is room. Takes and returns the height of each. */
export function spreadLabels(heights: number[], lowest: number): number[] {
  const moved = [...heights];
  const order = heights.map((_, i) => i).sort((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0));
  let least = Number.NEGATIVE_INFINITY;
  for (const i of order) {
    moved[i] = Math.max(moved[i] ?? 0, least);
    least = moved[i] + lineHeight;
  }
  let most = lowest;
  for (const i of order.toReversed()) {
    moved[i] = Math.min(moved[i] ?? 0, most);
    most = moved[i] - lineHeight;
  }
  return moved;
}

/** The width of a letter of the labels of the chart, in pixels, at most. */
const letterWidth = 7;

/** Names an agent and its model in at most this width. */
export function labelOf({ name, model }: Pick<PortfolioEntry, 'name' | 'model'>, space: number): string {
  const label = `${name.slice(0, 30)} · ${model.slice(0, 30)}`;
  const most = Math.max(4, Math.floor(space / letterWidth));
  return label.length <= most ? label : `${label.slice(0, most - 1).trimEnd()}…`;
}

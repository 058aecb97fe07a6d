import { chanceOfDifference, type Trials } from '../learning/statistics.ts';
import { errorOfVerdict, exactInterval, exactMcNemar } from './paired.ts';

/** What the trials of a repository know of an agent with a model. */
export interface TriedAgent {
  agentId: string;
  model: string;
  /** Each task that it tried, and whether it solved it the last time. */
  items: Map<string, boolean>;
  /** What these tries cost; null when the price of the model is unknown. */
  costUsd: number | null;
  minutes: number;
}

export interface PortfolioEntry {
  agentId: string;
  model: string;
  solved: number;
  of: number;
  interval: [number, number];
  /** Null when nothing was solved, and when the price of the model is unknown. */
  costPerSolved: number | null;
  minutesPerSolved: number | null;
  /** No other one solves at least as much for at most as much money, and is better in one of both. */
  isEfficient: boolean;
  /** How it compares with the best one. `unknown`: so few tasks could not show that it is worse. */
  comparedWithBest: 'best' | 'worse' | 'not worse' | 'unknown';
}

export interface Portfolio {
  agents: PortfolioEntry[];
  /** The cheapest one that is the best or not worse than it; null while no cost is known. */
  cheapest: PortfolioEntry | null;
}

/**
 * Compares agents by the share of tasks that they solve and by the cost of each solved one. The best one is the one whose
 * share is certainly the highest: by the lower end of its interval, so that one lucky task is not enough. Another one is not worse if
 * its tasks could have shown that it is, at an error of 5 %, and do not.
 */
export function portfolioOf(tried: TriedAgent[]): Portfolio {
  const all = tried.filter(({ items }) => items.size > 0).map((each) => ({ ...each, ...countsOf(each) }));
  const best = all.reduce<(typeof all)[number] | undefined>(
    (found, each) => (found === undefined || isBetter(each, found) ? each : found),
    undefined,
  );
  const entries = all.map((each): PortfolioEntry => {
    const { agentId, model, successes: solved, trials: of, interval, costPerSolved, minutes } = each;
    return {
      agentId,
      model,
      solved,
      of,
      interval,
      costPerSolved,
      minutesPerSolved: solved === 0 ? null : minutes / solved,
      isEfficient: isEfficient(each, all),
      comparedWithBest: each === best || best === undefined ? 'best' : compared(each, best),
    };
  });
  const candidates = entries.filter(
    ({ comparedWithBest, costPerSolved }) => costPerSolved !== null && ['best', 'not worse'].includes(comparedWithBest),
  );
  const [cheapest = null] = candidates.toSorted(
    (a, b) => (a.costPerSolved ?? 0) - (b.costPerSolved ?? 0) || (a.minutesPerSolved ?? 0) - (b.minutesPerSolved ?? 0),
  );
  return { agents: entries, cheapest };
}

type Counted = TriedAgent & ReturnType<typeof countsOf>;

function countsOf({ items, costUsd }: TriedAgent): Trials & {
  interval: [number, number];
  costPerSolved: number | null;
} {
  const counts = trialsOf(items);
  const costPerSolved = costUsd === null || counts.successes === 0 ? null : costUsd / counts.successes;
  return { ...counts, interval: exactInterval(counts), costPerSolved };
}

/** Of two with the same share, the cheaper one is better, and of two that cost the same the faster one. */
function isBetter(a: Counted, b: Counted): boolean {
  const difference = a.interval[0] - b.interval[0];
  if (Math.abs(difference) > 1e-6) return difference > 0;
  const [ours, theirs] = [a, b].map(({ costPerSolved }) => costPerSolved ?? Number.POSITIVE_INFINITY);
  return ours === theirs ? a.minutes * b.successes < b.minutes * a.successes : (ours ?? 0) < (theirs ?? 0);
}

function isEfficient(each: Counted, all: Counted[]): boolean {
  const { costPerSolved: cost } = each;
  if (cost === null) return false;
  const share = each.successes / each.trials;
  return !all.some((other) => {
    if (other === each || other.costPerSolved === null) return false;
    const otherShare = other.successes / other.trials;
    const isAsGood = otherShare >= share && other.costPerSolved <= cost;
    return isAsGood && (otherShare > share || other.costPerSolved < cost);
  });
}

function compared(each: Counted, best: Counted): 'worse' | 'not worse' | 'unknown' {
  if (isWorse(each.items, best.items)) return 'worse';
  const none = { successes: 0, trials: each.trials };
  return chanceOfDifference(none, best) <= errorOfVerdict ? 'not worse' : 'unknown';
}

/**
 * Whether one agent solves significantly less than another, by which tasks each has tried and solved. Compares the same tasks
 * if most are the same, because tasks differ more than agents; otherwise all tasks.
 */
export function isWorse(ours: Map<string, boolean>, theirs: Map<string, boolean>): boolean {
  const both = [...ours].filter(([id]) => theirs.has(id));
  if (2 * both.length >= Math.min(ours.size, theirs.size)) {
    const wins = both.filter(([id, isSolved]) => isSolved && theirs.get(id) === false).length;
    const losses = both.filter(([id, isSolved]) => !isSolved && theirs.get(id) === true).length;
    return losses > wins && exactMcNemar(wins, losses) / 2 <= errorOfVerdict;
  }
  const [a, b] = [trialsOf(ours), trialsOf(theirs)];
  return a.successes / a.trials < b.successes / b.trials && chanceOfDifference(a, b) <= errorOfVerdict;
}

function trialsOf(items: Map<string, boolean>): Trials {
  return { successes: [...items.values()].filter((isSolved) => isSolved).length, trials: items.size };
}

import type { Trials } from '../learning/statistics.ts';

/** What two agents, or two versions of one, made of the same task. */
export interface Pair {
  /** The one that is tried solved it. */
  ours: boolean;
  /** The other one solved it. */
  theirs: boolean;
}

/**
 * `better` and `worse` are clear differences, `same` is a finished comparison without one, and `open` one that goes on.
 */
export const pairedVerdicts = ['better', 'worse', 'same', 'open'] as const;
export type PairedVerdict = (typeof pairedVerdicts)[number];

export interface PairedComparison {
  /** The number of pairs. */
  of: number;
  /** Tasks that only the tried one solved, and those that only the other one solved. */
  wins: number;
  losses: number;
  /** By how much the share of solved tasks is higher; 0 without pairs. */
  difference: number;
  /** The p-value of the exact test of McNemar, in both directions: how likely so clear a difference is by chance. */
  pValue: number;
  verdict: PairedVerdict;
  /** The number of pairs after which the difference was clear; null if it is not. */
  clearAfter: number | null;
}

/**
 * The error of a verdict: of two agents that solve the same share, one is called worse in at most this share of
 * comparisons, and better in at most this share, however often the pairs are looked at before.
 */
export const errorOfVerdict = 0.05;

/**
 * Which share of that error may be used up after a share of the tasks: its power. The larger it is, the clearer an early
 * difference has to be, and the less the last look loses.
 */
const spendingPower = 3;

/**
 * Returns a confidence interval of 95 % for a rate that covers the true one at least so often, however few trials there
 * are: that of Clopper and Pearson.
 * @see https://doi.org/10.1093/biomet/26.4.404
 */
export function exactInterval({ successes, trials }: Trials, error = 0.05): [number, number] {
  const atLeast = (rate: number) => upperTail(trials, successes, rate);
  const atMost = (rate: number) => 1 - upperTail(trials, successes + 1, rate);
  const low = successes === 0 ? 0 : boundary((rate) => atLeast(rate) > error / 2);
  const high = successes === trials ? 1 : boundary((rate) => atMost(rate) < error / 2);
  return [low, high];
}

/** Returns the lowest rate, within 10⁻⁹, for which `holds`; it then holds for all higher ones. */
function boundary(holds: (rate: number) => boolean): number {
  let [low, high] = [0, 1];
  while (high - low > 1e-9) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

/** Returns the probability of at least `least` successes in independent trials. */
function upperTail(trials: number, least: number, rate: number): number {
  if (least <= 0) return 1;
  let sum = 0;
  let ways = 0;
  for (let k = 0; k <= trials; k++) {
    if (k >= least) sum += Math.exp(ways + k * Math.log(rate) + (trials - k) * Math.log1p(-rate));
    ways += Math.log((trials - k) / (k + 1));
  }
  return Math.min(1, sum);
}

/**
 * Returns the p-value of the exact test of McNemar for pairs that differ, in both directions. Pairs that do not differ say
 * nothing about which one is better.
 * @see https://doi.org/10.1007/BF02295996
 */
export function exactMcNemar(wins: number, losses: number): number {
  const different = wins + losses;
  if (wins === losses) return 1;
  return Math.min(1, 2 * upperTail(different, Math.max(wins, losses), 0.5));
}

/**
 * Compares pairs in the order in which they were tried. It may be called after each pair, and the comparison ends as soon as
 * the difference is clear.
 *
 * If both are equally good, each pair that differs is a toss of a fair coin. After each of `planned` pairs, the exact
 * distribution of these tosses says how large a lead has to be, so that all looks together err as seldom as
 * `errorOfVerdict` says. How much of that may be used up by when is a function of time: Lan and DeMets, Discrete sequential
 * boundaries for clinical trials, Biometrika 70 (1983). The last look, with `isOver`, may use all that is left, also when a
 * budget ended the comparison before its time.
 * @see https://doi.org/10.1093/biomet/70.3.659
 */
export function comparePairs(
  pairs: Pair[],
  { planned, isOver }: { planned: number; isOver: boolean },
): PairedComparison {
  const wins = pairs.filter(({ ours, theirs }) => ours && !theirs).length;
  const losses = pairs.filter(({ ours, theirs }) => !ours && theirs).length;
  const clear = firstClear(pairs, planned, isOver);
  return {
    of: pairs.length,
    wins,
    losses,
    difference: pairs.length === 0 ? 0 : (wins - losses) / pairs.length,
    pValue: exactMcNemar(wins, losses),
    verdict: clear?.verdict ?? (isOver ? 'same' : 'open'),
    clearAfter: clear?.after ?? null,
  };
}

function firstClear(
  pairs: Pair[],
  planned: number,
  isOver: boolean,
): { verdict: 'better' | 'worse'; after: number } | undefined {
  const chance = fairWalk(pairs.length);
  let lead = 0;
  for (const [i, { ours, theirs }] of pairs.entries()) {
    const after = i + 1;
    if (ours !== theirs) {
      lead += ours ? 1 : -1;
      chance.toss();
    }
    const isLast = after >= planned || (isOver && after === pairs.length);
    const share = isLast ? 1 : (after / planned) ** spendingPower;
    const bound = chance.spend(errorOfVerdict * share);
    if (Math.abs(lead) >= bound) return { verdict: lead > 0 ? 'better' : 'worse', after };
  }
  return undefined;
}

/** The distribution of the lead of one of two equals, for comparisons in which no lead was clear yet. */
function fairWalk(most: number) {
  /** The probability of each lead, from -`most` to `most`. */
  let chances = new Float64Array(2 * most + 1);
  chances[most] = 1;
  let next = new Float64Array(chances.length);
  let tosses = 0;
  let spent = 0;
  return {
    toss: () => {
      tosses++;
      // No lead is larger than the number of tosses.
      for (let at = most - tosses; at <= most + tosses; at++)
        next[at] = ((chances[at - 1] ?? 0) + (chances[at + 1] ?? 0)) / 2;
      [chances, next] = [next, chances];
    },
    /** Returns the least lead that is clear now, if all looks until now may err with this probability in each direction. */
    spend: (allowed: number): number => {
      let bound = most + 1;
      while (bound > 1 && spent + chances[most + bound - 1]! <= allowed) {
        bound--;
        spent += chances[most + bound]!;
        chances[most + bound] = 0;
        chances[most - bound] = 0;
      }
      return bound;
    },
  };
}

/** A value with the interval in which the true one probably lies. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
}

/**
 * Returns a rate with its Wilson score interval, which stays between 0 and 1 and is good for few trials as well.
 * @see https://doi.org/10.1080/01621459.1927.10502953
 */
export function rate(successes: number, trials: number, z: number): Estimate {
  const value = successes / trials;
  const spread = (z * z) / trials;
  const middle = (value + spread / 2) / (1 + spread);
  const half = Math.sqrt(spread * (value * (1 - value) + spread / 4)) / (1 + spread);
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/**
 * Returns how much higher one rate is than another, with Newcombe's interval (his method 10), which joins their Wilson
 * intervals.
 * @see https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C873::AID-SIM779%3E3.0.CO;2-I
 */
export function rateDifference(later: Estimate, earlier: Estimate): Estimate {
  const value = later.value - earlier.value;
  return {
    value,
    low: value - Math.hypot(later.value - later.low, earlier.high - earlier.value),
    high: value + Math.hypot(later.high - later.value, earlier.value - earlier.low),
  };
}

/** Successes in a number of independent trials. */
export interface Trials {
  successes: number;
  trials: number;
}

/** The common rates for which the exact test is computed. */
const rates = Array.from({ length: 99 }, (_, at) => (at + 1) / 100);

/**
 * Returns the p-value of the exact unconditional test of two rates with the pooled z statistic: how likely a difference at
 * least this clear is if both rates are equal, for the common rate that makes it most likely. With few trials, tests by
 * the normal distribution report more false differences than they promise; this one never does.
 * @see https://doi.org/10.2307/2981892
 */
export function chanceOfDifference(a: Trials, b: Trials): number {
  const seen = clarity(a.successes, a.trials, b.successes, b.trials);
  if (seen === 0) return 1;
  const inA = upTo(a.trials);
  const [waysA, waysB] = [ways(a.trials), ways(b.trials)];
  const unclear = inA.map((i) => lessClear(i, a.trials, b.trials, seen));
  let greatest = 0;
  for (const rate of rates) {
    const sums = runningSums(probabilities(waysB, rate));
    const chanceUpTo = (k: number) => (k < 0 ? 0 : sums[k]!);
    const inAll = probabilities(waysA, rate);
    let chance = 0;
    for (const i of inA) {
      const { first, last } = unclear[i]!;
      chance += inAll[i]! * (1 - chanceUpTo(last) + chanceUpTo(first - 1));
    }
    greatest = Math.max(greatest, chance);
  }
  return Math.min(1, greatest);
}

/**
 * Returns the first and the last of those numbers of `m` successes that differ less clearly from `i` of `n` than `seen`.
 * The clarity grows in both directions from the same rate, so it can be searched by halves. `last` is `first` - 1 if
 * there are none.
 */
function lessClear(i: number, n: number, m: number, seen: number): { first: number; last: number } {
  const sameRate = (i * m) / n;
  const isUnclear = (k: number) => clarity(i, n, k, m) < seen * (1 - 1e-9);
  return {
    first: firstWhere(0, Math.floor(sameRate), isUnclear),
    last: firstWhere(Math.ceil(sameRate), m, (k) => !isUnclear(k)) - 1,
  };
}

/** Returns the first number for which `holds`, which then holds for all others up to `to`; `to` + 1 if it never holds. */
function firstWhere(from: number, to: number, holds: (number: number) => boolean): number {
  let [low, high] = [from, to + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the whole numbers from 0 to `last`. */
function upTo(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, number) => number);
}

/**
 * Returns a measure of how clearly two rates differ: the square of the pooled z statistic, without the factor
 * 1 / (1 / n + 1 / m), which all results of the same numbers of trials share.
 */
function clarity(i: number, n: number, k: number, m: number): number {
  const pooled = (i + k) / (n + m);
  const difference = i / n - k / m;
  return difference === 0 ? 0 : difference ** 2 / (pooled * (1 - pooled));
}

/** Returns the logarithm of the number of ways to get each number of successes, which is the binomial coefficient. */
function ways(trials: number): number[] {
  let logarithm = 0;
  return upTo(trials).map((k) => {
    const ofThis = logarithm;
    logarithm += Math.log((trials - k) / (k + 1));
    return ofThis;
  });
}

/** Returns the probability of each number of successes. Logarithms keep those of many trials from becoming zero. */
function probabilities(logarithms: readonly number[], rate: number): number[] {
  const odds = Math.log(rate / (1 - rate));
  const allFail = (logarithms.length - 1) * Math.log(1 - rate);
  return logarithms.map((logarithm, k) => Math.exp(logarithm + allFail + k * odds));
}

function runningSums(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}

/** What is known of a sample: its size, mean, and the square of the standard error of the mean. */
interface Sample {
  size: number;
  mean: number;
  squaredError: number;
}

function sampleOf(values: number[]): Sample {
  const size = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / size;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { size, mean, squaredError: squares / (size - 1) / size };
}

/** Returns the mean of at least two values, with its interval by Student's t. */
export function mean(values: number[], z: number): Estimate {
  const { size, mean: value, squaredError } = sampleOf(values);
  const half = studentT(z, size - 1) * Math.sqrt(squaredError);
  return { value, low: value - half, high: value + half };
}

/** Returns how much higher one mean is than another, with Welch's interval, which allows for unequal variances. */
export function meanDifference(later: number[], earlier: number[], z: number): Estimate {
  const [a, b] = [sampleOf(later), sampleOf(earlier)];
  const value = a.mean - b.mean;
  const squared = a.squaredError + b.squaredError;
  if (squared === 0) return { value, low: value, high: value };
  const freedom = squared ** 2 / (a.squaredError ** 2 / (a.size - 1) + b.squaredError ** 2 / (b.size - 1));
  const half = studentT(z, freedom) * Math.sqrt(squared);
  return { value, low: value - half, high: value + half };
}

/**
 * Returns the quantile of Student's t that belongs to a quantile of the normal distribution. The series (Abramowitz and
 * Stegun, 26.7.5) errs by less than 1 % from five degrees of freedom on.
 */
export function studentT(z: number, freedom: number): number {
  const [z3, z5, z7] = [z ** 3, z ** 5, z ** 7];
  return (
    z +
    (z3 + z) / (4 * freedom) +
    (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom ** 3)
  );
}

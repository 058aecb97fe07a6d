import { studentT } from '../learning/statistics.ts';

/** Between which amounts something will probably be. */
export interface Range {
  low: number;
  high: number;
}

/** With fewer earlier amounts, nothing is said. */
export const leastSamples = 3;

/** The normal quantile of 80 % intervals. */
const z80 = 1.281552;

/**
 * Returns what `count` further things will cost together, in four of five cases, if they cost what earlier ones did. The more
 * of them there are, the better their amounts cancel out; that the mean of few earlier ones is uncertain is included. Undefined
 * with too few of them.
 */
export function rangeOfSum(earlier: number[], count: number): Range | undefined {
  const size = earlier.length;
  if (size < leastSamples) return undefined;
  const mean = earlier.reduce((sum, value) => sum + value, 0) / size;
  const variance = earlier.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (size - 1);
  const half = studentT(z80, size - 1) * Math.sqrt(variance * (count + (count * count) / size));
  const least = Math.min(...earlier) * count;
  return { low: Math.max(least, count * mean - half), high: count * mean + half };
}

/** Adds up ranges of things that do not depend on each other. */
export function sumOfRanges(ranges: Range[]): Range {
  const middle = ranges.reduce((sum, { low, high }) => sum + (low + high) / 2, 0);
  const half = Math.hypot(...ranges.map(({ low, high }) => (high - low) / 2));
  return { low: Math.max(0, middle - half), high: middle + half };
}

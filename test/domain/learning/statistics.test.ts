import {
  chanceOfDifference,
  mean,
  meanDifference,
  rate,
  rateDifference,
  studentT,
} from '../../../src/domain/learning/statistics.ts';

/** The normal quantiles of 95 % and of 99 % intervals. */
const [z95, z99] = [1.959964, 2.575829];
const rounded = ({ low, high }: { low: number; high: number }) => [low, high].map((n) => Number(n.toFixed(4)));

// Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
test.each<[number, number, number[]]>([
  [81, 263, [0.2553, 0.3662]],
  [15, 148, [0.0624, 0.1605]],
  [0, 20, [0, 0.1611]],
  [1, 29, [0.0061, 0.1718]],
])('the interval of %i of %i agrees with the published one', (successes, trials, interval) => {
  expect(rounded(rate(successes, trials, z95))).toEqual(interval);
});

test('the interval of a rate never leaves the range from 0 to 1', () => {
  for (let trials = 1; trials <= 60; trials++) {
    expect(rate(0, trials, z95).low).toBeGreaterThanOrEqual(0);
    expect(rate(trials, trials, z95).high).toBeLessThanOrEqual(1);
  }
});

// Newcombe, Interval estimation for the difference between independent proportions (1998), table II, method 10.
test.each<[number, number, number, number, number[]]>([
  [56, 70, 48, 80, [0.0524, 0.3339]],
  [9, 10, 3, 10, [0.1705, 0.809]],
  [6, 7, 2, 7, [0.0582, 0.8062]],
  [5, 56, 0, 29, [-0.0381, 0.1926]],
  [0, 10, 0, 20, [-0.1611, 0.2775]],
  [0, 10, 0, 10, [-0.2775, 0.2775]],
  [10, 10, 0, 20, [0.6791, 1]],
  [10, 10, 0, 10, [0.6075, 1]],
])('the interval of the difference between %i of %i and %i of %i agrees with the published one', (i, n, k, m, interval) => {
  const difference = rateDifference(rate(i, n, z95), rate(k, m, z95));
  expect(difference.value).toBeCloseTo(i / n - k / m, 12);
  expect(rounded(difference)).toEqual(interval);
});

const chance = (i: number, n: number, k: number, m: number) =>
  chanceOfDifference({ successes: i, trials: n }, { successes: k, trials: m });

// By hand: the probability of all outcomes that differ at least as clearly, for the common rate 1/2.
test.each([
  ['one and none of one', [1, 1, 0, 1], 2 / 4],
  ['two and none of two', [2, 2, 0, 2], 2 / 16],
  ['three and none of three', [3, 3, 0, 3], 2 / 64],
  ['one and none of two, all but the ties', [1, 2, 0, 2], 10 / 16],
  ['one of two and none of one, all but none and all of three', [1, 2, 0, 1], 6 / 8],
  ['five of six and none of four', [5, 6, 0, 4], 14 / 1024],
] as const)('the p-value of %s', (_what, [i, n, k, m], wanted) => {
  expect(chance(i, n, k, m)).toBeCloseTo(wanted, 12);
  expect(chance(k, m, i, n)).toBeCloseTo(wanted, 12);
});

// Values of the package Barnard for R, with which SciPy tests its own function. Ours tries fewer common rates.
test.each([
  [2, 10, 7, 9, 0.019210815],
  [5, 15, 1, 11, 0.156277546],
  [10, 20, 5, 6, 0.177536589],
  [0, 3, 1, 3, 0.509667992],
  [0, 6, 2, 6, 0.197019619],
  [43, 53, 40, 79, 0.000362832],
  [5, 25, 16, 41, 0.116984852],
])('the p-value of %i of %i against %i of %i agrees with the published one', (i, n, k, m, published) => {
  expect(chance(i, n, k, m)).toBeLessThanOrEqual(published + 1e-9);
  expect(chance(i, n, k, m)).toBeGreaterThan(published - 1e-4);
});

test('equal rates differ by chance alone, and never by more', () => {
  for (const trials of [1, 10, 100]) expect(chance(trials / 2, trials, trials / 2, trials)).toBe(1);
  expect(chance(0, 10, 0, 30)).toBe(1);
  expect(chance(10, 30, 20, 60)).toBe(1);
});

// Abramowitz and Stegun, 26.7.5, worked out by hand: for z = 1, 2/4 + 24/96 + 24/384; for z = 2, 10/4 + 294/96 + 1098/384.
test.each([
  [1, 1, 1 + 0.5 + 0.25 + 0.0625],
  [1, 2, 1 + 0.5 / 2 + 0.25 / 4 + 0.0625 / 8],
  [2, 1, 2 + 2.5 + 3.0625 + 2.859375],
  [-2, 1, -(2 + 2.5 + 3.0625 + 2.859375)],
])('the series for z = %d with %i degrees of freedom', (z, freedom, sum) => {
  expect(studentT(z, freedom)).toBeCloseTo(sum, 12);
});

test('the quantiles of Student agree with the tables to 1 % from five degrees of freedom on', () => {
  for (const [freedom, t95, t99] of [
    [5, 2.5706, 4.0321],
    [6, 2.4469, 3.7074],
    [10, 2.2281, 3.1693],
    [20, 2.086, 2.8453],
    [60, 2.0003, 2.6603],
  ] as const) {
    expect(Math.abs(studentT(z95, freedom) / t95 - 1)).toBeLessThan(0.01);
    expect(Math.abs(studentT(z99, freedom) / t99 - 1)).toBeLessThan(0.01);
  }
});

/** Five values around a mean, with a standard error of 1. */
const around = (mean: number) => [-3, -1, 0, 1, 3].map((n) => mean + n);

test('the interval of a mean', () => {
  // With a standard error of 2 and four degrees of freedom.
  const half = 2 * (1 + 0.5 / 4 + 0.25 / 16 + 0.0625 / 64);
  const values = around(5).map((n) => 2 * n);
  expect(mean(values, 1)).toEqual({
    value: 10,
    low: expect.closeTo(10 - half, 12),
    high: expect.closeTo(10 + half, 12),
  });
});

test('the interval of the difference of two means with equal errors has the degrees of freedom of both', () => {
  const half = (1 + 0.5 / 8 + 0.25 / 64 + 0.0625 / 512) * Math.SQRT2;
  expect(meanDifference(around(10), around(3), 1)).toEqual({
    value: 7,
    low: expect.closeTo(7 - half, 12),
    high: expect.closeTo(7 + half, 12),
  });
});

test('the interval of the difference of two means with unequal errors agrees with the one of R', () => {
  // t.test(extra ~ group, data = sleep): -3.3654832 to 0.2054832, with 17.776 degrees of freedom.
  const first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
  const second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
  expect(rounded(meanDifference(first, second, z95))).toEqual([-3.3655, 0.2055]);
  // By hand: squared errors of 1 and 3, so 16 / (1/4 + 9/2) degrees of freedom.
  const inverse = 4.75 / 16;
  const half = 2 * (1 + 0.5 * inverse + 0.25 * inverse ** 2 + 0.0625 * inverse ** 3);
  expect(meanDifference(around(0), [-3, 0, 3], 1).high).toBeCloseTo(half, 12);
  expect(meanDifference([-3, 0, 3], around(0), 1).high).toBeCloseTo(half, 12);
});

test('values that are all equal leave no doubt about the difference', () => {
  expect(meanDifference([2, 2], [5, 5, 5], z95)).toEqual({ value: -3, low: -3, high: -3 });
});

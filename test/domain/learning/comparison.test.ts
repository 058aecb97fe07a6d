import { type ComparedTask, compareVersions } from '../../../src/domain/learning/comparison.ts';
import { chanceOfDifference, rate, rateDifference, studentT } from '../../../src/domain/learning/statistics.ts';
import { isThorough } from '../../support/thorough.ts';

/** Draws numbers from 0 to 1 that depend only on the seed (mulberry32). */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws tasks: cost and time vary as widely as those of real runs, most are small and a few are large. */
function tasksOf(draw: () => number, count: number, chance: number, factor = 1): ComparedTask[] {
  const skewed = () => Math.exp(Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw()) * 0.8);
  return Array.from({ length: count }, () => ({
    isDone: draw() < chance,
    costUsd: factor * skewed(),
    minutes: 10 * factor * skewed(),
    revisions: Math.floor(factor * 2 * draw()),
  }));
}

const simulations = isThorough ? 10_000 : 300;

/** Returns in which share of simulated comparisons a difference in a measure is reported. */
function reported(seed: number, chances: [number, number], factor = 1) {
  const draw = draws(seed);
  const found = { success: 0, others: 0 };
  for (let i = 0; i < simulations; i++) {
    const [success, ...others] = compareVersions(
      { version: 1, tasks: tasksOf(draw, 100, chances[0]) },
      { version: 2, tasks: tasksOf(draw, 100, chances[1], factor) },
    ).measures;
    const isReal = (verdict?: string) => verdict === 'better' || verdict === 'worse';
    found.success += Number(isReal(success?.verdict));
    found.others += Number(others.some(({ verdict }) => isReal(verdict)));
  }
  return { success: found.success / simulations, others: found.others / simulations };
}

test.each([
  [0.3, 0.5],
  [0.6, 0.8],
  [0.95, 0.75],
])('a true difference between %d and %d is found in at least 80 %% of comparisons of 100 tasks each', (a, b) => {
  expect(reported(1, [a, b]).success).toBeGreaterThanOrEqual(0.8);
});

test.each([0.5, 0.7, 0.9])('a difference that is not there is reported in at most 5 %% (%d)', (chance) => {
  const { success, others } = reported(3, [chance, chance]);
  expect(success).toBeLessThanOrEqual(0.05);
  expect(others).toBeLessThanOrEqual(0.05);
});

/** Returns the probability of each number of successes in some trials. */
function binomial(trials: number, chance: number): number[] {
  let probability = (1 - chance) ** trials;
  return Array.from({ length: trials + 1 }, (_, k) => {
    const now = probability;
    probability *= ((trials - k) / (k + 1)) * (chance / (1 - chance));
    return now;
  });
}

/** Returns the exact probability of a report for two true rates and two numbers of trials. */
function exactly(n: number, m: number) {
  const isReported = Array.from({ length: n + 1 }, (_, i) =>
    Array.from(
      { length: m + 1 },
      (_, k) => chanceOfDifference({ successes: i, trials: n }, { successes: k, trials: m }) <= 0.05,
    ),
  );
  return (p: number, q: number) => {
    const other = binomial(m, q);
    return binomial(n, p).reduce(
      (sum, chance, i) => sum + chance * other.reduce((s, b, k) => s + (isReported[i]?.[k] ? b : 0), 0),
      0,
    );
  };
}

test.each(
  isThorough
    ? [
        [100, 100],
        [10, 10],
        [10, 40],
        [30, 90],
      ]
    : [
        [10, 10],
        [10, 40],
      ],
)('of %d and %d tasks, a difference that is not there is reported in at most 5 %%, whatever the rate', (n, m) => {
  const reports = exactly(n, m);
  for (let p = 0.005; p < 1; p += 0.005) expect(reports(p, p)).toBeLessThanOrEqual(0.0501);
});

(isThorough ? test : test.skip)('the power for 20 points is the one that the decision record names', () => {
  const reports = exactly(100, 100);
  for (let p = 0.01; p < 0.795; p += 0.01)
    expect(reports(p, p + 0.2)).toBeGreaterThanOrEqual(p > 0.365 && p < 0.435 ? 0.79 : 0.8);
});

test('a version that costs twice as much is recognized', () => {
  const { others } = reported(4, [0.7, 0.7], 2);
  expect(others).toBeGreaterThan(0.8);
});

test('intervals agree with published values', () => {
  // Newcombe 1998, table II: 56/70 against 48/80.
  const { value, low, high } = rateDifference(rate(56, 70, 1.959964), rate(48, 80, 1.959964));
  expect([value, low, high].map((n) => n.toFixed(4))).toEqual(['0.2000', '0.0524', '0.3339']);
  for (const [freedom, t] of [
    [9, 2.2622],
    [30, 2.0423],
    [1000, 1.9623],
  ] as const)
    expect(studentT(1.959964, freedom)).toBeCloseTo(t, 2);
});

test('the sentence says what was found', () => {
  const tasks = (done: number, count: number): ComparedTask[] =>
    Array.from({ length: count }, (_, i) => ({ isDone: i < done, costUsd: null, minutes: 1, revisions: 0 }));
  const sentence = (a: [number, number], b: [number, number]) =>
    compareVersions({ version: 1, tasks: tasks(...a) }, { version: 2, tasks: tasks(...b) }).sentence;
  expect(sentence([0, 0], [1, 1])).toBe(
    'Too few tasks to compare. While both versions took on tasks, version 1 finished 0 tasks, and version 2 finished 1 task. Each needs 10.',
  );
  expect(sentence([30, 50], [33, 50])).toBe(
    'Version 1 succeeded in 60% of 50 tasks and version 2 in 66% of 50. Chance can explain the difference: alone it would produce one as clear in 58% of comparisons.',
  );
  expect(sentence([60, 100], [80, 100])).toBe(
    'Version 1 succeeded in 60% of 100 tasks and version 2 in 80% of 100. Chance hardly explains the difference: alone it would produce one as clear in 0.2% of comparisons.',
  );
  expect(sentence([0, 100], [100, 100])).toContain('in less than 0.1% of comparisons');
});

test('without prices, and with equal values, no difference is reported', () => {
  const same: ComparedTask[] = Array.from({ length: 20 }, () => ({
    isDone: true,
    costUsd: null,
    minutes: 5,
    revisions: 0,
  }));
  const { measures } = compareVersions({ version: 1, tasks: same }, { version: 2, tasks: same });
  expect(measures.map(({ measure, verdict }) => [measure, verdict])).toEqual([
    ['success', 'chance'],
    ['cost', 'too_few'],
    ['time', 'chance'],
    ['revisions', 'chance'],
  ]);
});

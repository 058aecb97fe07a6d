import { seededRandom } from '../../../src/domain/forecast/draws.ts';
import { comparePairs, exactInterval, exactMcNemar, type Pair } from '../../../src/domain/lab/paired.ts';
import { isThorough } from '../../support/thorough.ts';

test('the interval is that of Clopper and Pearson', () => {
  const of = (successes: number, trials: number) => exactInterval({ successes, trials }).map((rate) => rate.toFixed(4));
  // As R's binom.test says.
  expect(of(0, 10)).toEqual(['0.0000', '0.3085']);
  expect(of(7, 10)).toEqual(['0.3475', '0.9333']);
  expect(of(15, 20)).toEqual(['0.5090', '0.9134']);
  expect(of(1, 1)).toEqual(['0.0250', '1.0000']);
});

test('the p-value is that of the exact test of McNemar', () => {
  expect(exactMcNemar(0, 0)).toBe(1);
  expect(exactMcNemar(3, 3)).toBe(1);
  expect(exactMcNemar(0, 5)).toBeCloseTo(0.0625);
  expect(exactMcNemar(9, 1)).toBeCloseTo(0.021484);
  expect(exactMcNemar(1, 9)).toBeCloseTo(0.021484);
});

/** Two oracles that solve tasks with these chances, task by task. */
function oracles(ours: number, theirs: number, seed: string) {
  const random = seededRandom(seed);
  return (): Pair => ({ ours: random.uniform() < ours, theirs: random.uniform() < theirs });
}

/** Tries tasks one after the other, looks at each, and stops as soon as the difference is clear. */
function trial(next: () => Pair, planned: number) {
  const pairs: Pair[] = [];
  for (;;) {
    pairs.push(next());
    const compared = comparePairs(pairs, { planned, isOver: pairs.length === planned });
    if (compared.verdict !== 'open') return { ...compared, pairs };
  }
}

const trials = (ours: number, theirs: number, planned: number, count = 100) => {
  const next = oracles(ours, theirs, `${ours} ${theirs} ${planned}`);
  return Array.from({ length: count }, () => trial(next, planned));
};

const strengths = [0.3, 0.5, 0.7];

test.each(
  strengths,
)('of 100 trials of an oracle that solves %d, 95 intervals or more cover that, early stops included', (rate) => {
  const all = trials(rate, 0.5, 30);
  const covering = all.filter(({ pairs }) => {
    const [low, high] = exactInterval({ successes: pairs.filter(({ ours }) => ours).length, trials: pairs.length });
    return low <= rate && rate <= high;
  });
  expect(covering.length).toBeGreaterThanOrEqual(95);
});

// A difference of 40 points needs 50 tasks, one of 20 points 160.
test.each([
  [0.3, 0.7, 50, 32],
  [0.5, 0.7, 160, 100],
  [0.3, 0.5, 160, 100],
])('of 100 trials, 95 or more find that %d is worse than %d with at most %d tasks, on average %d', (ours, theirs, planned, mean) => {
  const all = trials(ours, theirs, planned);
  expect(all.filter(({ verdict }) => verdict === 'worse').length).toBeGreaterThanOrEqual(95);
  expect(all.reduce((sum, { of }) => sum + of, 0) / 100).toBeLessThan(mean);
});

test.each(
  strengths,
)('two oracles that both solve %d are called worse or better in at most 5 of 100 trials each', (rate) => {
  const count = isThorough ? 1000 : 200;
  const twiceStandardError = 2 * Math.sqrt(0.05 * 0.95 * count);
  for (const planned of [5, 20, 40]) {
    const all = trials(rate, rate, planned, count);
    for (const verdict of ['worse', 'better'])
      expect(all.filter((each) => each.verdict === verdict).length).toBeLessThanOrEqual(
        0.05 * count + twiceStandardError,
      );
  }
});

test('looking at every task does not raise the error, which is exact', () => {
  // All ways in which 12 tasks that differ can end, by the side that solves them.
  const planned = 12;
  let wrong = 0;
  for (let ways = 0; ways < 2 ** planned; ways++) {
    let at = 0;
    const { verdict } = trial(() => {
      const ours = ((ways >> at++) & 1) === 1;
      return { ours, theirs: !ours };
    }, planned);
    if (verdict === 'worse') wrong++;
  }
  expect(wrong / 2 ** planned).toBeLessThanOrEqual(0.05);
  expect(wrong / 2 ** planned).toBeGreaterThan(0.01);
});

test('five tasks suffice if one side solves all and the other none', () => {
  const lost = Array.from({ length: 5 }, (): Pair => ({ ours: false, theirs: true }));
  expect(comparePairs(lost, { planned: 5, isOver: true })).toMatchObject({
    verdict: 'worse',
    losses: 5,
    difference: -1,
  });
  expect(comparePairs(lost.slice(1), { planned: 4, isOver: true })).toMatchObject({ verdict: 'same' });
  expect(comparePairs(lost, { planned: 20, isOver: false })).toMatchObject({ verdict: 'open', clearAfter: null });
});

test('a comparison that its budget ends may use up the whole error', () => {
  const lost = Array.from({ length: 6 }, (): Pair => ({ ours: false, theirs: true }));
  expect(comparePairs(lost, { planned: 30, isOver: false }).verdict).toBe('open');
  expect(comparePairs(lost, { planned: 30, isOver: true })).toMatchObject({ verdict: 'worse', clearAfter: 6 });
  expect(comparePairs([], { planned: 30, isOver: true })).toMatchObject({ verdict: 'same', pValue: 1, difference: 0 });
});

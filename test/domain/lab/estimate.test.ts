import { seededRandom } from '../../../src/domain/forecast/draws.ts';
import { rangeOfSum, sumOfRanges } from '../../../src/domain/lab/estimate.ts';

test('four of five trials cost what was estimated, also for few and skewed costs', () => {
  const random = seededRandom('costs');
  const cost = () => Math.exp(0.7 * random.normal() - 1);
  const many = (count: number) => Array.from({ length: count }, cost);
  for (const known of [8, 40]) {
    let inside = 0;
    for (let at = 0; at < 1000; at++) {
      const range = rangeOfSum(many(known), 20);
      const sum = many(20).reduce((total, each) => total + each, 0);
      if (range !== undefined && range.low <= sum && sum <= range.high) inside++;
    }
    expect(inside).toBeGreaterThan(720);
    expect(inside).toBeLessThan(880);
  }
});

test('with fewer than three earlier amounts nothing is said', () => {
  expect(rangeOfSum([1, 2], 20)).toBeUndefined();
  expect(rangeOfSum([0.25, 0.25, 0.25], 20)).toEqual({ low: 5, high: 5 });
});

test('ranges add up by their halves', () => {
  expect(
    sumOfRanges([
      { low: 4, high: 10 },
      { low: 1, high: 9 },
    ]),
  ).toEqual({ low: 7, high: 17 });
});
